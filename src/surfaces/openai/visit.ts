// Reads the body and the query of a request of this surface.

import { readJsonBody, type Visit } from "../in-process/visit.ts";
import { invalid } from "./errors.ts";
import { Fields } from "./fields.ts";
import type { Item } from "./messages.ts";

/** Reads the body as a JSON object. */
export function readFields(visit: Visit): Fields {
  return new Fields(readJsonBody(visit));
}

/** A page of a list, as the query asks for it. */
export interface PageQuery {
  readonly limit: number;
  readonly isAscending: boolean;
  readonly after: string | undefined;
}

/** Reads `limit`, `order` and `after`. */
export function readPage({ query }: Visit): PageQuery {
  const limit = Number(query.get("limit") ?? limitDefault);
  if (!Number.isInteger(limit) || limit < 1 || limit > limitMax) {
    throw invalid("limit", `must be 1 to ${limitMax}`);
  }
  const order = query.get("order") ?? "desc";
  if (order !== "asc" && order !== "desc") {
    throw invalid("order", "must be asc or desc");
  }
  return { limit, isAscending: order === "asc", after: query.get("after") ?? undefined };
}

const limitDefault = 20;
const limitMax = 100;

/**
 * Returns a page of items as a list object. Their ids have `owner` between the type and the numbers. So an item that was deleted since the
 * page before still has its place.
 */
export function pageOf(items: readonly Item[], { limit, isAscending, after }: PageQuery, owner: string): object {
  const ordered = isAscending ? items : items.toReversed();
  const last = after === undefined ? undefined : placeOf(after, owner);
  if (last !== undefined && Number.isNaN(last)) {
    throw invalid("after", "must be the id of an item of this list");
  }
  const isBehind = ({ id }: Item): boolean =>
    last === undefined || (isAscending ? placeOf(id, owner) > last : placeOf(id, owner) < last);
  const rest = ordered.filter(isBehind);
  const data = rest.slice(0, limit);
  return {
    object: "list",
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: rest.length > limit,
  };
}

/** Returns the place of an item by its id: the number of its message, then that of its call. NaN for the id of another list. */
function placeOf(id: string, owner: string): number {
  const place = id.slice(id.indexOf("_") + 1);
  const [, message, call = "-1"] = place.startsWith(owner) ? (placePattern.exec(place.slice(owner.length)) ?? []) : [];
  return Number(message) * callsMax + Number(call) + 1;
}

const placePattern = /^(\d{1,9})(?:_(\d{1,5}))?$/;
/** More than a message has. */
const callsMax = 1_000_000;
