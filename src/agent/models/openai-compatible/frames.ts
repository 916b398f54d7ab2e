// The words and figures of Chat Completions.

import type { FinishReason, ModelUsage } from "../model.ts";
import { asCount, asRecord, type FrameFinish } from "../wire/frame.ts";

const finishReasons = new Map<string, FinishReason | "failed">([
  ["stop", "stop"],
  ["length", "length"],
  ["tool_calls", "tool-calls"],
  ["function_call", "tool-calls"],
  ["content_filter", "content-filter"],
  // Sent by gateways in place of an error object.
  ["error", "failed"],
  ["insufficient_system_resource", "failed"],
]);

/** Undefined for a frame that is not the last one. */
export function readFinish(word: unknown): FrameFinish | undefined {
  return typeof word === "string" && word !== "" ? { reason: finishReasons.get(word) ?? "other", word } : undefined;
}

/** A figure that is missing is undefined, never 0. */
export function readUsage(raw: unknown): ModelUsage | undefined {
  if (raw === undefined || raw === null) {
    return undefined;
  }
  const usage = asRecord(raw);
  return {
    promptTokens: asCount(usage.prompt_tokens),
    completionTokens: asCount(usage.completion_tokens),
    totalTokens: asCount(usage.total_tokens),
    // The second is DeepSeek's name.
    cachedTokens: asCount(asRecord(usage.prompt_tokens_details).cached_tokens ?? usage.prompt_cache_hit_tokens),
    reasoningTokens: asCount(asRecord(usage.completion_tokens_details).reasoning_tokens),
  };
}
