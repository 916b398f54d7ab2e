// Reads the content of a delta: a text, or a list of parts. Mistral's models that reason send their thoughts as such parts.

import type { ModelPart } from "../model.ts";
import { asRecord } from "../wire/frame.ts";
import type { SkippedFrames } from "../wire/skipped.ts";

/** Returns the text and the reasoning of a content, in order. Counts parts of other types in `skipped`. */
export function readContent(content: unknown, skipped: SkippedFrames): readonly ModelPart[] {
  if (typeof content === "string") {
    return content === "" ? [] : [{ type: "text", text: content }];
  }
  return Array.isArray(content) ? content.flatMap((part) => readPart(part, skipped)) : [];
}

function readPart(value: unknown, skipped: SkippedFrames): readonly ModelPart[] {
  const { type, text, thinking } = asRecord(value);
  if (type === "thinking") {
    const thought = typeof thinking === "string" ? thinking : readContent(thinking, skipped).map(sayText).join("");
    return thought === "" ? [] : [{ type: "reasoning", text: thought }];
  }
  if (type !== "text" && type !== undefined) {
    skipped.add("part", type);
    return [];
  }
  return typeof text === "string" && text !== "" ? [{ type: "text", text }] : [];
}

function sayText(part: ModelPart): string {
  return part.type === "text" || part.type === "reasoning" ? part.text : "";
}
