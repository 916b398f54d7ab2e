// Reads the finish reasons and usage figures of Chat Completions.

import type { FinishReason, ModelUsage } from "../model.ts";
import { asCount, asRecord, type FrameFinish, textOf } from "../wire/frame.ts";

const finishReasons = new Map<string, FinishReason | "failed">([
  ["stop", "stop"],
  ["length", "length"],
  // Mistral's, Cohere's and Zhipu's words for it.
  ["model_length", "length"],
  ["max_tokens", "length"],
  ["model_context_window_exceeded", "length"],
  ["tool_calls", "tool-calls"],
  ["function_call", "tool-calls"],
  ["content_filter", "content-filter"],
  ["sensitive", "content-filter"],
  // Gateways send this in place of an error object.
  ["error", "failed"],
  ["insufficient_system_resource", "failed"],
  ["network_error", "failed"],
]);

/**
 * Returns the finish of a choice, or undefined when it has none yet. vLLM (`stop_reason`) and SGLang (`matched_stop`) name the stop
 * sequence, or the number of the token that ended the response.
 */
export function readFinish(choice: Readonly<Record<string, unknown>>): FrameFinish | undefined {
  const word = textOf(choice.finish_reason);
  const stopSequence = textOf(choice.stop_reason) || textOf(choice.matched_stop) || undefined;
  return word === "" ? undefined : { reason: finishReasons.get(word.toLowerCase()) ?? "other", word, stopSequence };
}

/** Returns the usage of a frame, or undefined when it has none. A missing figure is undefined, never 0. */
export function readUsage(raw: unknown): ModelUsage | undefined {
  if (raw === undefined || raw === null) {
    return undefined;
  }
  const usage = asRecord(raw);
  return {
    promptTokens: asCount(usage.prompt_tokens),
    completionTokens: asCount(usage.completion_tokens),
    totalTokens: asCount(usage.total_tokens),
    // The second name is DeepSeek's.
    cachedTokens: asCount(asRecord(usage.prompt_tokens_details).cached_tokens ?? usage.prompt_cache_hit_tokens),
    reasoningTokens: asCount(asRecord(usage.completion_tokens_details).reasoning_tokens),
  };
}
