// Reads the finish reasons and usage figures of the Messages format.

import type { FinishReason, ModelUsage } from "../model.ts";
import { asCount, asRecord, type FrameFinish, textOf } from "../wire/frame.ts";

const finishReasons: ReadonlyMap<string, FinishReason> = new Map([
  ["end_turn", "stop"],
  ["stop_sequence", "stop"],
  ["max_tokens", "length"],
  ["model_context_window_exceeded", "length"],
  ["tool_use", "tool-calls"],
  ["refusal", "content-filter"],
  ["pause_turn", "paused"],
]);

/** Returns the finish in a `message_delta` or a whole message, or undefined when it has none. */
export function readFinish(delta: Readonly<Record<string, unknown>>): FrameFinish | undefined {
  const word = delta.stop_reason;
  if (typeof word !== "string" || word === "") {
    return undefined;
  }
  // Both are null when no category fits, and missing in older models.
  const { category, explanation } = asRecord(delta.stop_details);
  const said = [word, category, explanation].filter((text) => typeof text === "string" && text !== "");
  const stopSequence = textOf(delta.stop_sequence) || undefined;
  return { reason: finishReasons.get(word) ?? "other", word: said.join(": "), stopSequence };
}

/** Cumulative counts of a response, each with its latest value. `input` excludes tokens read from or written to the cache. */
export interface Counts {
  readonly input?: number;
  readonly cacheRead?: number;
  readonly cacheWritten?: number;
  readonly output?: number;
  readonly thinking?: number;
}

/** Returns the counts of a usage. Counts that the server did not give are missing. */
export function readCounts(usage: unknown): Counts {
  const raw = asRecord(usage);
  const given = {
    input: asCount(raw.input_tokens),
    cacheRead: asCount(raw.cache_read_input_tokens),
    cacheWritten: asCount(raw.cache_creation_input_tokens),
    output: asCount(raw.output_tokens),
    thinking: asCount(asRecord(raw.output_tokens_details).thinking_tokens),
  };
  return Object.fromEntries(Object.entries(given).filter(([, tokens]) => tokens !== undefined));
}

/** Returns the usage of a response with these counts; undefined when it has none. */
export function usageOf(counts: Counts): ModelUsage | undefined {
  const { input, cacheRead, cacheWritten, output, thinking } = counts;
  if (Object.keys(counts).length === 0) {
    return undefined;
  }
  return {
    promptTokens: input === undefined ? undefined : input + (cacheRead ?? 0) + (cacheWritten ?? 0),
    completionTokens: output,
    totalTokens: undefined,
    cachedTokens: cacheRead,
    reasoningTokens: thinking,
  };
}
