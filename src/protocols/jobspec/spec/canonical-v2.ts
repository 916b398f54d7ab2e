// The bytes that a signature of version 2 is over: RFC 8785 (JCS) of the whole object without its `signature`. Nothing is
// pruned, names are in the order of their UTF-16 units, and text is escaped no more than JSON asks for. Shares no code with
// version 1 on purpose: neither may change with the other.

import { isObject, type Json, type JsonObject } from "./json.ts";

/** What is signed, as an object. The original is left as it is. */
export function signablePartV2(spec: JsonObject): JsonObject {
  const signable = new Map(spec);
  signable.delete("signature");
  return signable;
}

export function canonicalTextV2(spec: JsonObject): string {
  return printV2(signablePartV2(spec));
}

/** Text, numbers and words as ECMAScript writes them, which is how the RFC defines them. */
export function printV2(value: Json): string {
  if (Array.isArray(value)) {
    return `[${value.map(printV2).join(",")}]`;
  }
  if (isObject(value)) {
    const names = [...value.keys()].sort();
    return `{${names.map((name) => `${JSON.stringify(name)}:${printV2(value.get(name) ?? null)}`).join(",")}}`;
  }
  return JSON.stringify(value);
}
