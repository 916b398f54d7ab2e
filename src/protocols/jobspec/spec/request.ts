// What is posted as a job: a signed JobSpec, or a wrapper around one.
// Q1  A body with an object member `jobspec` is a wrapper. The inner object is taken from the received text as it stands there, and
//     read as a document of its own, so what is verified is what was sent.
// Q2  Nothing in a wrapper is signed: whoever carries the request can change it. So it may only narrow what the signed spec says,
//     or say what that leaves open; plan.ts holds it to that.
// Q3  Members of a wrapper that are not known are not looked at.

import { JsonTextError } from "../../../platform/base/json/text.ts";
import { flag, integer, list, number, optional, record, text } from "./fields.ts";
import { isObject, type JsonObject, type ReadDocument, readDocument } from "./json.ts";
import { BodyFault, SpecFault } from "./spec-fault.ts";

/** A spec has a few kilobytes; what it refers to is elsewhere. */
export const bodyBytesMax = 1_048_576;

export interface Unwrapped {
  /** The spec, whatever it came in. */
  readonly document: ReadDocument;
  /** What it came in, if it came in something. */
  readonly wrapper: JsonObject | undefined;
}

/** What a wrapper asks for. Undefined is not given. */
export type Wishes = ReturnType<typeof wishes>;

export interface JobRequest {
  readonly document: ReadDocument;
  /** Undefined when the spec came without a wrapper. */
  readonly wishes: Wishes | undefined;
}

/** Throws a `BodyFault`. */
export function readRequest(body: Uint8Array): JobRequest {
  const { document, wrapper } = unwrap(readBody(body));
  if (wrapper === undefined && document.object.has("jobspec") && !document.object.has("signature")) {
    throw new BodyFault("validation_error", "jobspec must be an object: the signed JobSpec");
  }
  return { document, wishes: wrapper && readWishes(wrapper) };
}

/** Throws a `BodyFault`. */
export function readBody(body: Uint8Array): ReadDocument {
  if (body.length === 0) {
    throw new BodyFault("invalid_body", "the body is empty: send a signed JobSpec as JSON");
  }
  if (body.length > bodyBytesMax) {
    throw new BodyFault("invalid_body", `the body has ${body.length} bytes: ${bodyBytesMax} are the most`);
  }
  return readJson(body);
}

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
