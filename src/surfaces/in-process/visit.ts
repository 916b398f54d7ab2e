// One request of a surface with routes of its own: its parts, and its body.

import type { Clock } from "../../platform/base/clock.ts";
import { Fault } from "../../platform/base/fault.ts";
import { parseExact } from "../../platform/base/json/exact.ts";
import { assertUncompressed, decodeBody } from "../rest/body.ts";
import type { RestRequest } from "../rest/respond.ts";
import type { StreamedAnswer } from "../rest/streamed-answer.ts";
import type { Calls } from "./calls.ts";

/** A request, and what its answer needs. */
export interface Visit extends StreamedAnswer {
  readonly request: RestRequest;
  readonly calls: Calls;
  readonly query: URLSearchParams;
  /** Undefined for an empty body. */
  readonly body: Uint8Array | undefined;
  readonly clock: Clock;
}

/**
 * Returns the JSON of the body, whose numbers keep all digits; an empty object for an empty body. Throws Fault INVALID_ARGUMENT for
 * other texts.
 */
export function readJsonBody({ request, body = new Uint8Array() }: Visit): unknown {
  assertUncompressed(request);
  const text = decodeBody(body, false);
  if (text.trim() === "") {
    return {};
  }
  try {
    return parseExact(text);
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    throw new Fault("INVALID_ARGUMENT", `the request body is not JSON: ${problem}`, { cause: error });
  }
}

/** Returns the key that makes a request safe to repeat; empty for none. */
export function idempotencyKeyOf({ request }: Visit): string {
  return headerOf(request, "idempotency-key") ?? "";
}

/** Returns a header that has one value; undefined for an empty one. */
export function headerOf({ headers }: RestRequest, name: string): string | undefined {
  const value = headers[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}
