// One request of this surface: its parts, and the ways to answer it.

import type { Clock } from "../../platform/base/clock.ts";
import { parseExact } from "../../platform/base/json/exact.ts";
import type { Calls } from "../in-process/calls.ts";
import { assertUncompressed, decodeBody } from "../rest/body.ts";
import { endStream, type RestRequest, type RestResponse, sendJson, setHead, writePiece } from "../rest/respond.ts";
import type { StreamedAnswer } from "../rest/streamed-answer.ts";
import { invalid, invalidBody } from "./errors.ts";
import { Fields } from "./fields.ts";

/** A request, and what its answer needs. */
export interface Visit extends StreamedAnswer {
  readonly request: RestRequest;
  readonly calls: Calls;
  readonly query: URLSearchParams;
  /** Undefined for an empty body. */
  readonly body: Uint8Array | undefined;
  readonly clock: Clock;
}

/** Reads the body as a JSON object. */
export function readFields({ request, body = new Uint8Array() }: Visit): Fields {
  assertUncompressed(request);
  const text = decodeBody(body, false);
  if (text.trim() === "") {
    return new Fields({});
  }
  let value: unknown;
  try {
    value = parseExact(text);
  } catch (error) {
    throw invalidBody(`the request body is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  return new Fields(value);
}

/** Returns the key that makes a request safe to repeat; empty for none. */
export function idempotencyKeyOf({ request }: Visit): string {
  const key = request.headers["idempotency-key"];
  return typeof key === "string" ? key : "";
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

/**
 * Sends a JSON answer that may take long. Clients give up after five minutes without a byte: after a minute the answer begins
 * with status 200 and white space, which JSON allows.
 */
export class SlowJson {
  readonly #response: RestResponse;
  #heartbeats = 0;

  constructor(response: RestResponse) {
    this.#response = response;
  }

  /** Call it every 15 s. */
  async beat(): Promise<void> {
    this.#heartbeats += 1;
    if (this.#heartbeats === heldHeartbeats) {
      setHead(this.#response, 200, { "content-type": "application/json" });
    }
    if (this.#heartbeats >= heldHeartbeats) {
      await writePiece(this.#response, " ");
    }
  }

  send(status: number, body: object, headers: Readonly<Record<string, string>> = {}): void {
    const json = JSON.stringify(body);
    if (this.#response.headersSent) {
      endStream(this.#response, `${json}\n`);
    } else {
      sendJson(this.#response, status, json, headers);
    }
  }
}

/** The first empty batch comes at once, then four more in a minute. */
const heldHeartbeats = 5;

/** A comment: it keeps a silent stream alive. */
export const keepAlive = ": keep-alive\n\n";
