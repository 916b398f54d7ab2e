// The arguments of calls as generateContent takes them: always an object. Pure.

import { RawJson } from "../../../platform/base/json/exact.ts";
import { parseJson, parseObject } from "../../../platform/base/json/parse-object.ts";
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
  return { arguments: parseJson(json) !== undefined ? new RawJson(json) : json };
}
