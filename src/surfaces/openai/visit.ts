// Reads the body and the query of a request of this surface.

import { readJsonBody, type Visit } from "../in-process/visit.ts";
import { invalid } from "./errors.ts";
import { Fields } from "./fields.ts";

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

/** Returns a page of items as a list object. */
export function pageOf(items: readonly { readonly id: string }[], { limit, isAscending, after }: PageQuery): object {
  const ordered = isAscending ? items : items.toReversed();
  const start = after === undefined ? 0 : ordered.findIndex(({ id }) => id === after) + 1;
  const data = ordered.slice(start, start + limit);
  return {
    object: "list",
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: start + limit < ordered.length,
  };
}
