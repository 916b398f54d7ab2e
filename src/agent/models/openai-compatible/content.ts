// Reads the content of a delta: a text, or a list of parts. Mistral's models that reason send their thoughts as such parts.

import type { ModelPart } from "../model.ts";
import { asRecord } from "../wire/frame.ts";

/** Returns the text and the reasoning of a content, in order. Parts of other types are skipped. */
export function readContent(content: unknown): readonly ModelPart[] {
  if (typeof content === "string") {
    return content === "" ? [] : [{ type: "text", text: content }];
  }
  return Array.isArray(content) ? content.flatMap(readPart) : [];
}

function readPart(value: unknown): readonly ModelPart[] {
  const { type, text, thinking } = asRecord(value);
  if (type === "thinking") {
    const thought = typeof thinking === "string" ? thinking : readContent(thinking).map(sayText).join("");
    return thought === "" ? [] : [{ type: "reasoning", text: thought }];
  }
  return (type === "text" || type === undefined) && typeof text === "string" && text !== ""
    ? [{ type: "text", text }]
    : [];
}

function sayText(part: ModelPart): string {
  return part.type === "text" || part.type === "reasoning" ? part.text : "";
}
