// Text that waits while a write is in flight is merged before it gets a sequence: fewer rows, and readers see the same
// text. Only adjacent pieces of one block merge, and never for long.

import type { ResultInit } from "./result.ts";

/** A merged piece grows no longer than this … */
export const mergeAgeMaxMs = 50;
/** … and no larger than this, so that readers still see text flow. */
export const mergeCharsMax = 4096;

/** The two as one result, or undefined when they must stay apart. */
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

/** A result with figures of its own is an entry of its own: its usage, or its number in its runner's count. */
export function isCounted({ usage, runnerSequence }: ResultInit): boolean {
  return usage !== undefined || runnerSequence !== undefined;
}

/** Characters of text that a result carries; other kinds are small and few. */
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

/** A chunk of text and no more: no tool call, no end, nothing of a provider. */
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
