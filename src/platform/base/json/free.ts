// Free-form JSON that is stored and returned as written. It refuses what Postgres or another language's parser cannot hold:
// U+0000 and halves of surrogate pairs in strings and keys, and unlimited nesting. Throws JsonTextError only.

import { type JsonNode, JsonTextError, parseJsonText } from "./text.ts";

/** A JSON object with the place of each member. */
export type JsonObject = Extract<JsonNode, { kind: "object" }>;

/** Parses any JSON value. Throws JsonTextError when it is invalid or not storable. */
export function parseFreeJson(text: string): JsonNode {
  const node = parseJsonText(text);
  assertStorable(node);
  return node;
}

/** Parses a JSON object. Throws JsonTextError when the text is another value, invalid or not storable. */
export function parseFreeObject(text: string): JsonObject {
  const node = parseFreeJson(text);
  if (node.kind !== "object") {
    throw new JsonTextError("expected a JSON object");
  }
  return node;
}

/**
 * Returns the value of a key; of duplicate keys the last one, as most parsers do. Returns undefined when the key is missing.
 */
export function memberOf(node: JsonNode | undefined, key: string): JsonNode | undefined {
  return node?.kind === "object" ? node.members.findLast((member) => member.key.value === key)?.value : undefined;
}

/** Returns the text under a key. Returns undefined when it is missing or of another kind. */
export function textMember(node: JsonNode | undefined, key: string): string | undefined {
  const value = memberOf(node, key);
  return value?.kind === "string" ? value.value : undefined;
}

function assertStorable(node: JsonNode): void {
  switch (node.kind) {
    case "object":
      for (const { key, value } of node.members) {
        assertStorable(key);
        assertStorable(value);
      }
      return;
    case "array":
      node.items.forEach(assertStorable);
      return;
    case "string":
      if (node.value.includes("\0")) {
        throw new JsonTextError(`\\u0000 in the string at offset ${node.start}`);
      }
      if (!node.value.isWellFormed()) {
        throw new JsonTextError(`half of a surrogate pair in the string at offset ${node.start}`);
      }
      return;
    case "number":
    case "boolean":
    case "null":
      return;
    default:
      node satisfies never;
  }
}
