// The frames of Chat Completions.

import type { FinishReason, ModelUsage } from "../model.ts";
import { asCount, asRecord, type Dialect, type FrameFinish } from "../sdk/dialect.ts";

export const chatDialect: Dialect = {
  readFrame: (value) => {
    const fields = asRecord(value);
    const choices = Array.isArray(fields.choices) ? fields.choices : [];
    const choice = asRecord(choices[0]);
    const { refusal, reasoning_content: thought } = asRecord(choice.delta);
    return {
      error: fields.error ?? undefined,
      refusal: typeof refusal === "string" ? refusal : undefined,
      finish: readFinish(choice),
      usage: readUsage(fields.usage),
      // Servers that call it so refuse a later request without it. Those that call it `reasoning` do not want it.
      wantsThoughts: typeof thought === "string" && thought !== "",
      hasContent: choices.length > 0,
    };
  },
};

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

function readFinish(choice: Readonly<Record<string, unknown>>): FrameFinish | undefined {
  const word = choice.finish_reason;
  return typeof word === "string" && word !== "" ? { reason: finishReasons.get(word) ?? "other", word } : undefined;
}

// The SDK's own figures turn what is missing into 0.
function readUsage(raw: unknown): ModelUsage | undefined {
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
