// Joins text pieces that arrived in one socket read. Each part passes through every watcher of the response, and readers of the
// run gain nothing from separate pieces. Splits texts that are too long for one part.

import { splitHalfCharacter } from "../half-character.ts";
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

/** The maximum length of one part. A frame may have a text of megabytes, and readers of the log accept results of a few. */
export const partCharsMax = 262_144;

/** Splits texts and thoughts that are longer than one part may be, never within a character. */
export function splitTexts(parts: readonly ModelPart[]): readonly ModelPart[] {
  return parts.some(isLong) ? parts.flatMap((part) => (isLong(part) ? splitText(part) : [part])) : parts;
}

type Said = Extract<ModelPart, { type: "text" | "reasoning" }>;

function isLong(part: ModelPart): part is Said {
  return (part.type === "text" || part.type === "reasoning") && part.text.length > partCharsMax;
}

function splitText({ type, text }: Said): readonly ModelPart[] {
  const pieces: ModelPart[] = [];
  let rest = text;
  while (rest.length > partCharsMax) {
    const [piece] = splitHalfCharacter(rest.slice(0, partCharsMax));
    pieces.push({ type, text: piece });
    rest = rest.slice(piece.length);
  }
  return [...pieces, { type, text: rest }];
}
