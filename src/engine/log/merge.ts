// Merges waiting pieces of text before they get a sequence: fewer rows, and readers see the same text. Only adjacent pieces of
// one block merge, and only for a short time.

import type { ResultInit } from "./result.ts";

/** The maximum time in which a merged piece grows, in milliseconds. */
export const mergeAgeMaxMs = 50;
/** The maximum length of a merged piece in characters, so that readers still see text flow. */
export const mergeCharsMax = 4096;

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

/**
 * Returns whether a result has its own figures: a usage, or a sequence number of its runner. Such a result is never merged.
 */
export function isCounted({ usage, runnerSequence }: ResultInit): boolean {
  return usage !== undefined || runnerSequence !== undefined;
}

/** Returns how many characters of text a result carries; 0 for other results, which are small and few. */
export function textLength({ payload }: ResultInit): number {
  switch (payload?.case) {
    case "messageDelta":
      return payload.value.chunk?.content?.length ?? 0;
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
  return content === undefined ? undefined : { payload: { case: "messageDelta", value: { chunk: { ...b, content } } } };
}

/** Returns whether a chunk is only text: it has no tool call, is not final, and has no fields of a provider. */
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

function joinText(a = "", b = ""): string | undefined {
  return a.length + b.length > mergeCharsMax ? undefined : a + b;
}
