// Joins text pieces that arrived in one socket read. Each part passes through every watcher of the response, and readers of the
// run gain nothing from separate pieces. Splits texts that are too long for one part.

import { splitHalfCharacter } from "../half-character.ts";
import type { ModelLogprob, ModelPart, ModelUsage } from "../model.ts";
import { mergeUsage } from "./frame.ts";

/** The maximum that the log keeps in one result. A single longer piece stays unchanged. */
const joinedCharsMax = 4_096;

/** The maximum number of log probabilities that the log keeps in one result. */
const tokensMax = 256;

/**
 * Joins adjacent text parts, also around usage figures, of which the last ones count: Gemini sends some with each piece of text. Other
 * parts stay in place.
 */
export function joinTexts(parts: readonly ModelPart[]): readonly ModelPart[] {
  const joined: ModelPart[] = [];
  let text = "";
  let logprobs: ModelLogprob[] | undefined;
  let usage: ModelUsage | undefined;
  const flushUsage = (): void => {
    if (usage !== undefined) {
      joined.push({ type: "usage", usage });
      usage = undefined;
    }
  };
  const flush = (): void => {
    if (text !== "" || logprobs !== undefined) {
      joined.push(saying("text", text, logprobs));
      text = "";
      logprobs = undefined;
    }
    flushUsage();
  };
  for (const part of parts) {
    if (part.type === "usage") {
      usage = mergeUsage(usage, part.usage);
      continue;
    }
    if (part.type !== "text" || text.length + part.text.length > joinedCharsMax) {
      flush();
    }
    if (part.type === "text") {
      if (text === "") {
        flushUsage();
      }
      if (part.logprobs !== undefined) {
        if ((logprobs?.length ?? 0) + part.logprobs.length > tokensMax) {
          flush();
        }
        logprobs = [...(logprobs ?? []), ...part.logprobs];
      }
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

/** Splits texts and thoughts that are longer than one part may be, never within a character, and log probabilities. */
export function splitTexts(parts: readonly ModelPart[]): readonly ModelPart[] {
  return parts.some(isLong) ? parts.flatMap((part) => (isLong(part) ? splitText(part) : [part])) : parts;
}

type Said = Extract<ModelPart, { type: "text" | "reasoning" }>;

function isLong(part: ModelPart): part is Said {
  if (part.type === "text" && part.logprobs !== undefined && part.logprobs.length > tokensMax) {
    return true;
  }
  return (part.type === "text" || part.type === "reasoning") && part.text.length > partCharsMax;
}

/** Log probabilities that have no room beside the text follow it alone. */
function splitText(part: Said): readonly ModelPart[] {
  const logprobs = part.type === "text" ? (part.logprobs ?? []) : [];
  const texts = piecesOf(part.text);
  const count = Math.max(texts.length, Math.ceil(logprobs.length / tokensMax));
  return Array.from({ length: count }, (_, place) => {
    const tokens = logprobs.slice(place * tokensMax, (place + 1) * tokensMax);
    return saying(part.type, texts[place] ?? "", tokens.length === 0 ? undefined : tokens);
  });
}

function piecesOf(text: string): readonly string[] {
  const pieces: string[] = [];
  let rest = text;
  while (rest.length > partCharsMax) {
    const [piece] = splitHalfCharacter(rest.slice(0, partCharsMax));
    pieces.push(piece);
    rest = rest.slice(piece.length);
  }
  return [...pieces, rest];
}

/** Thoughts have no log probabilities. */
function saying(type: Said["type"], text: string, logprobs: readonly ModelLogprob[] | undefined): ModelPart {
  return type === "text" && logprobs !== undefined ? { type, text, logprobs } : { type, text };
}
