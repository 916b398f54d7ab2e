// Reads the log probabilities of tokens. They are an addition to a text, so an entry of unknown form is skipped.

import type { ModelLogprob, ModelPart, ModelToken } from "../model.ts";
import { asRecord } from "./frame.ts";

type Fields = Readonly<Record<string, unknown>>;

/** The maximum length of a token. The longest of known vocabularies have 128 characters. */
const tokenCharsMax = 128;

/** The maximum bytes of such a token in UTF-8. */
const tokenBytesMax = 384;

/** The maximum number of likeliest tokens of a place: no provider gives more. */
const topMax = 20;

/**
 * Reads a list of tokens. Returns undefined for a list without a token, and for any other value. `topOf` returns the likeliest tokens
 * of a place; by default they are where OpenAI's APIs have them.
 */
export function readLogprobs(
  list: unknown,
  topOf: (fields: Fields, place: number) => unknown = ({ top_logprobs: top }) => top,
): readonly ModelLogprob[] | undefined {
  if (!Array.isArray(list) || list.length === 0) {
    return undefined;
  }
  const read = list.flatMap((value, place): readonly ModelLogprob[] => {
    const token = readToken(value);
    const top = topOf(asRecord(value), place);
    const others = Array.isArray(top) ? top.slice(0, topMax) : [];
    return token === undefined ? [] : [{ ...token, top: others.flatMap((other) => readToken(other) ?? []) }];
  });
  return read.length === 0 ? undefined : read;
}

/**
 * Adds the log probabilities of a frame to the first text among its parts. They stay alone where the frame has no content at all: a
 * server may hold the text of a token back. Those of thoughts and calls are dropped, because the log keeps them for texts only.
 */
export function addLogprobs(
  parts: ModelPart[],
  logprobs: readonly ModelLogprob[] | undefined,
  { hasCalls }: { readonly hasCalls: boolean },
): void {
  if (logprobs === undefined) {
    return;
  }
  const place = parts.findIndex(({ type }) => type === "text");
  const said = parts[place];
  if (said?.type === "text") {
    parts[place] = { ...said, logprobs };
  } else if (parts.length === 0 && !hasCalls) {
    parts.push({ type: "text", text: "", logprobs });
  }
}

function readToken(value: unknown): ModelToken | undefined {
  const { token, logprob, logProbability, bytes } = asRecord(value);
  const likelihood = logprob ?? logProbability;
  if (typeof token !== "string" || token.length > tokenCharsMax || typeof likelihood !== "number") {
    return undefined;
  }
  const named = { token: token.toWellFormed(), logprob: likelihood };
  return isBytes(bytes) ? { ...named, bytes: Uint8Array.from(bytes) } : named;
}

function isBytes(value: unknown): value is readonly number[] {
  return (
    Array.isArray(value) &&
    value.length <= tokenBytesMax &&
    value.every((byte) => Number.isInteger(byte) && byte >= 0 && byte <= 255)
  );
}
