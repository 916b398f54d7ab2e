// What the providers that count the tokens of a request share.

import { parseJson } from "../../../platform/base/json/parse-object.ts";
import { asCount, asRecord } from "./frame.ts";

/** Returns the fields of a request's body that count. Services refuse the others, such as the maximum of the answer. */
export function countedFields(body: object, names: readonly string[]): object {
  return Object.fromEntries(Object.entries(body).filter(([name]) => names.includes(name)));
}

/** Returns the count in an answer such as `{"input_tokens":12}`; undefined when it has none. */
export function readCount(answer: string, field: string): number | undefined {
  return asCount(asRecord(parseJson(answer))[field]);
}
