// The JSON of an answer.

import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { RawJson } from "../platform/base/json/exact.ts";
import { isObject } from "../platform/base/json/parse-object.ts";
import { printMessage } from "../platform/base/json/print.ts";

/** Returns the JSON that REST has for a message, character for character. */
export function answerJson<Desc extends DescMessage>(schema: Desc, message: MessageShape<Desc>): RawJson {
  return new RawJson(printMessage(schema, message));
}

/** Returns a value that is no message with the names of its members as REST would have them: `{ publicKey }` has `public_key`. */
export function ownJson(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(ownJson);
  }
  if (!isObject(value)) {
    return value;
  }
  const toSnakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [toSnakeCase(name), ownJson(each)]));
}
