// The bytes that a signature of version 2 covers: RFC 8785 (JCS) of the whole object without its `signature`. Nothing is
// pruned, names are in the order of their UTF-16 units, and text is escaped only where JSON requires it. This file shares no
// code with version 1 on purpose: a change of one must not change the other.

import { joinPrinted } from "../../../platform/base/json/text.ts";
import { isObject, type Json, type JsonObject } from "./json.ts";

/** Returns the signed part of a spec as an object. The original stays unchanged. */
export function signablePartV2(spec: JsonObject): JsonObject {
  const signable = new Map(spec);
  signable.delete("signature");
  return signable;
}

/** Returns the canonical text of version 2: the text that a signature has to cover. */
export function canonicalTextV2(spec: JsonObject): string {
  return printV2(signablePartV2(spec));
}

/** Prints a value in the form of RFC 8785, which writes text, numbers and words as ECMAScript does. */
export function printV2(value: Json): string {
  if (Array.isArray(value)) {
    return `[${joinPrinted(value.map(printV2))}]`;
  }
  if (isObject(value)) {
    const names = [...value.keys()].sort();
    return `{${joinPrinted(names.map((name) => `${JSON.stringify(name)}:${printV2(value.get(name) ?? null)}`))}}`;
  }
  return JSON.stringify(value);
}
