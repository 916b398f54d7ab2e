// Reads the ends and usage figures of the Responses format.

import type { FinishReason, ModelUsage } from "../model.ts";
import { asCount, asRecord, type FrameFinish } from "../wire/frame.ts";

type Fields = Readonly<Record<string, unknown>>;

const incompleteReasons = new Map<string, FinishReason>([
  ["max_output_tokens", "length"],
  ["max_tokens", "length"],
  ["content_filter", "content-filter"],
]);

/** Returns the finish of a response, given the type of its last event. */
export function readFinish(type: unknown, response: Fields): FrameFinish {
  if (type === "response.failed") {
    return { reason: "failed", word: "failed" };
  }
  const { reason } = asRecord(response.incomplete_details);
  if (typeof reason !== "string" || reason === "") {
    return type === "response.completed"
      ? { reason: "stop", word: "completed" }
      : { reason: "other", word: "incomplete" };
  }
  return { reason: incompleteReasons.get(reason) ?? "other", word: reason };
}

/** Returns the usage of a response, or undefined when it has none. A missing figure is undefined, never 0. */
export function readUsage(raw: unknown): ModelUsage | undefined {
  if (raw === undefined || raw === null) {
    return undefined;
  }
  const usage = asRecord(raw);
  return {
    promptTokens: asCount(usage.input_tokens),
    completionTokens: asCount(usage.output_tokens),
    totalTokens: asCount(usage.total_tokens),
    cachedTokens: asCount(asRecord(usage.input_tokens_details).cached_tokens),
    reasoningTokens: asCount(asRecord(usage.output_tokens_details).reasoning_tokens),
  };
}
