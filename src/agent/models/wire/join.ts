// Pieces of text that came in one read of the socket, as one: each part passes through everything that watches a response,
// and who reads the run gains nothing from getting them one by one.

import type { ModelPart } from "../model.ts";

/** As much as the log keeps in one result; a piece that is longer by itself stays as it is. */
const joinedCharsMax = 4_096;

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
