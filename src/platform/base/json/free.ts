// Free-form JSON that is kept and given back as it was written. What Postgres or another language's reader could not hold is
// refused: U+0000 and halves of surrogate pairs in strings and keys, and nesting without end. Throws JsonTextError alone.

import { type JsonNode, JsonTextError, parseJsonText } from "./text.ts";

export type JsonObject = Extract<JsonNode, { kind: "object" }>;

export function parseFreeJson(text: string): JsonNode {
  const node = parseJsonText(text);
  assertStorable(node);
  return node;
}

export function parseFreeObject(text: string): JsonObject {
  const node = parseFreeJson(text);
  if (node.kind !== "object") {
    throw new JsonTextError("expected a JSON object");
  }
  return node;
}

/** The value of a key; of twins the last one, as most readers have it. */
export function memberOf(node: JsonNode | undefined, key: string): JsonNode | undefined {
  return node?.kind === "object" ? node.members.findLast((member) => member.key.value === key)?.value : undefined;
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
