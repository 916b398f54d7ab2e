// The arguments of calls as generateContent takes them: always an object. Pure.

import { RawJson } from "../../../platform/base/json/exact.ts";
import { parseObject } from "../../../platform/base/json/parse-object.ts";
import { argumentsOf } from "../wire/calls.ts";

/**
 * Returns arguments as an object, with their digits as they are written. A model that wrote anything else reads its own text under
 * `arguments`: `[1]` gives `{"arguments":[1]}`.
 */
export function argumentsObject(argumentsJson: string): RawJson | { readonly arguments: RawJson | string } {
  const json = argumentsOf(argumentsJson);
  if (parseObject(json) !== undefined) {
    return new RawJson(json);
  }
  return { arguments: isJson(json) ? new RawJson(json) : json };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
