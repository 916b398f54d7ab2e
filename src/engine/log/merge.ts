// Merges waiting pieces of text before they get a sequence: fewer rows, and readers see the same text. Only adjacent pieces of
// one block merge, and only for a short time.

import type { ResultInit } from "./result.ts";

/** The maximum time in which a merged piece grows, in milliseconds. */
export const mergeAgeMaxMs = 50;
/** The maximum length of a merged piece in characters, so that readers still see text flow. */
export const mergeCharsMax = 4096;
/** The maximum number of tokens in a merged piece. Each may list twenty others, so these have 150 KiB, and 3 MiB at worst. */
const mergeTokensMax = 256;
/** How many characters of text a token with its log probabilities weighs. */
const tokenChars = 512;

/** Returns both as one result; undefined when they must stay apart. */
export function mergeResults(first: ResultInit, second: ResultInit): ResultInit | undefined {
  if (isCounted(first) || isCounted(second)) {
    return undefined;
  }
  const [a, b] = [first.payload, second.payload];
  if (a?.case === "messageDelta" && b?.case === "messageDelta") {
    return mergeDeltas(a.value.chunk, b.value.chunk);
  }
  if (a?.case === "reasoningDelta" && b?.case === "reasoningDelta") {
    const content = joinText(a.value.content, b.value.content);
    return content === undefined ? undefined : { payload: { case: "reasoningDelta", value: { content } } };
  }
  return undefined;
}

/** Returns whether a result is a piece of text or reasoning that may merge with its neighbours. */
export function isPiece(result: ResultInit): boolean {
  const { payload } = result;
  if (isCounted(result)) {
    return false;
  }
  return payload?.case === "reasoningDelta" || (payload?.case === "messageDelta" && isPlainText(payload.value.chunk));
}

/**
 * Returns whether a result has its own figures: a usage, or a sequence number of its runner. Such a result is never merged.
 */
export function isCounted({ usage, runnerSequence }: ResultInit): boolean {
  return usage !== undefined || runnerSequence !== undefined;
}

/** Returns how many characters of text a result carries, or weighs; 0 for other results, which are small and few. */
export function textLength({ payload }: ResultInit): number {
  switch (payload?.case) {
    case "messageDelta": {
      const { chunk } = payload.value;
      const chars = chunk?.content?.length ?? 0;
      return chunk?.logprobs === undefined ? chars : chars + chunk.logprobs.length * tokenChars;
    }
    case "reasoningDelta":
      return payload.value.content?.length ?? 0;
    default:
      return 0;
  }
}

/** A chunk of text. */
export type PlainChunk = NonNullable<Chunk>;

type DeltaPayload = Extract<ResultInit["payload"], { case: "messageDelta" }>;
type Chunk = DeltaPayload["value"]["chunk"];

function mergeDeltas(a: Chunk, b: Chunk): ResultInit | undefined {
  if (!isPlainText(a) || !isPlainText(b) || a.role !== b.role || a.msgSequence !== b.msgSequence) {
    return undefined;
  }
  const content = joinText(a.content, b.content);
  const logprobs = joinLogprobs(a.logprobs, b.logprobs);
  if (content === undefined || (logprobs?.length ?? 0) > mergeTokensMax) {
    return undefined;
  }
  if (logprobs === undefined) {
    return { payload: { case: "messageDelta", value: { chunk: { ...b, content } } } };
  }
  const chunk = { role: b.role ?? "", content, msgSequence: b.msgSequence ?? 0, logprobs };
  return { payload: { case: "messageDelta", value: { chunk } } };
}

/** Returns whether a chunk is only text with its log probabilities: it has no tool call, is not final, and has no fields of a provider. */
export function isPlainText(chunk: Chunk): chunk is PlainChunk {
  return (
    chunk !== undefined &&
    chunk.isFinal !== true &&
    chunk.replacesText !== true &&
    chunk.allContent === undefined &&
    chunk.providerSpecificFields === undefined &&
    chunk.source === undefined &&
    (chunk.toolCalls ?? []).length === 0
  );
}

function joinLogprobs(a: PlainChunk["logprobs"], b: PlainChunk["logprobs"]): PlainChunk["logprobs"] {
  return a === undefined || b === undefined ? (a ?? b) : [...a, ...b];
}

function joinText(a = "", b = ""): string | undefined {
  return a.length + b.length > mergeCharsMax ? undefined : a + b;
}
