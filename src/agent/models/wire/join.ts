// Joins text pieces that arrived in one socket read. Each part passes through every watcher of the response, and readers of the
// run gain nothing from separate pieces.

import type { ModelPart } from "../model.ts";

/** The maximum that the log keeps in one result. A single longer piece stays unchanged. */
const joinedCharsMax = 4_096;

/** Joins adjacent text parts; other parts stay in place. */
export function joinTexts(parts: readonly ModelPart[]): readonly ModelPart[] {
  const joined: ModelPart[] = [];
  let text = "";
  const flush = (): void => {
    if (text !== "") {
      joined.push({ type: "text", text });
      text = "";
    }
  };
  for (const part of parts) {
    if (part.type !== "text" || text.length + part.text.length > joinedCharsMax) {
      flush();
    }
    if (part.type === "text") {
      text += part.text;
    } else {
      joined.push(part);
    }
  }
  flush();
  return joined;
}
