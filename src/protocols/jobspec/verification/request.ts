// The body of a submission: a signed JobSpec, or a wrapper around one.
// Q1  A body with an object member `jobspec` is a wrapper. The inner object is cut out of the received text and read as a
//     document of its own, so the verified bytes are the bytes that were sent.
// Q2  Nothing in a wrapper is signed: anyone who carries the request can change it. So a wrapper may only narrow the signed
//     spec, or set what the spec leaves open; plan.ts enforces that.
// Q3  Unknown members of a wrapper are ignored.

import { JsonTextError } from "../../../platform/base/json/text.ts";
import { flag, integer, list, number, optional, record, text } from "./fields.ts";
import { isObject, type JsonObject, type ReadDocument, readDocument } from "./json.ts";
import { BodyFault, SpecFault } from "./spec-fault.ts";

/** The maximum size of a body. A spec has a few kilobytes; it only refers to larger data. */
export const bodyBytesMax = 1_048_576;

/** A spec, taken out of its wrapper if it has one. */
export interface Unwrapped {
  /** The spec itself. */
  readonly document: ReadDocument;
  /** The object around the spec; undefined when the spec came by itself. */
  readonly wrapper: JsonObject | undefined;
}

/** What a wrapper asks for. Undefined means that the wrapper leaves it open. */
export type Wishes = ReturnType<typeof wishes>;

/** A submission: the spec, and what its wrapper asks for. */
export interface JobRequest {
  readonly document: ReadDocument;
  /** Undefined when the spec came without a wrapper. */
  readonly wishes: Wishes | undefined;
}

/** Reads a submission. Throws a `BodyFault`. */
export function readRequest(body: Uint8Array): JobRequest {
  const { document, wrapper } = unwrap(readBody(body));
  if (wrapper === undefined && document.object.has("jobspec") && !document.object.has("signature")) {
    throw new BodyFault("validation_error", "jobspec must be an object: the signed JobSpec");
  }
  return { document, wishes: wrapper && readWishes(wrapper) };
}

/** Reads a body as a JSON object. Throws a `BodyFault` when it is empty, too large or not a JSON object. */
export function readBody(body: Uint8Array): ReadDocument {
  if (body.length === 0) {
    throw new BodyFault("invalid_body", "the body is empty: send a signed JobSpec as JSON");
  }
  if (body.length > bodyBytesMax) {
    throw new BodyFault("invalid_body", `the body has ${body.length} bytes: maximum ${bodyBytesMax}`);
  }
  return readJson(body);
}

/** Takes the spec out of its wrapper. Throws a `BodyFault` when the inner text is not valid JSON. */
export function unwrap(document: ReadDocument): Unwrapped {
  const span = document.spans.get("jobspec");
  if (span === undefined || !isObject(document.object.get("jobspec"))) {
    return { document, wrapper: undefined };
  }
  const inner = readJson(Buffer.from(document.text.slice(span.start, span.end)));
  return { document: inner, wrapper: document.object };
}

function readJson(bytes: Uint8Array): ReadDocument {
  try {
    return readDocument(bytes);
  } catch (error) {
    throw error instanceof JsonTextError ? new BodyFault("invalid_json", error.message) : error;
  }
}

const wishes = record({
  targetRegions: optional(list(text({ max: 255 }))),
  minRegions: optional(integer({ min: 1 })),
  minSuccessRate: optional(number({ min: 0, max: 1 })),
  enableAnalysis: optional(flag),
});

function readWishes(wrapper: JsonObject): Wishes {
  try {
    return wishes(wrapper, "");
  } catch (error) {
    throw error instanceof SpecFault ? new BodyFault(error.code, error.message) : error;
  }
}
