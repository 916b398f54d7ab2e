// Annotations: JSON objects of callers that the service keeps and returns as they are.

import { invalidField } from "../platform/base/fault.ts";
import { parseObject } from "../platform/base/json/parse-object.ts";

/** Returns the annotations; undefined for none. Throws Fault INVALID_ARGUMENT when they are no JSON object. */
export function readAnnotations(json: string): string | undefined {
  if (json !== "" && parseObject(json) === undefined) {
    throw invalidField("annotations", "must be a JSON object");
  }
  return json || undefined;
}
