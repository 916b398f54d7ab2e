// What frames of every provider are made of: ends, figures, and values that may be anything.

import type { FinishReason, ModelUsage } from "../model.ts";

export interface FrameFinish {
  /** `failed` for words that mean trouble at the provider instead of an end. */
  readonly reason: FinishReason | "failed";
  /** The provider's own word, or what it said about a refusal. */
  readonly word: string;
}

/** Later figures win; what was not given again stays. */
export function mergeUsage(known: ModelUsage | undefined, newer: ModelUsage | undefined): ModelUsage | undefined {
  if (known === undefined || newer === undefined) {
    return newer ?? known;
  }
  return {
    promptTokens: newer.promptTokens ?? known.promptTokens,
    completionTokens: newer.completionTokens ?? known.completionTokens,
    totalTokens: newer.totalTokens ?? known.totalTokens,
    cachedTokens: newer.cachedTokens ?? known.cachedTokens,
    reasoningTokens: newer.reasoningTokens ?? known.reasoningTokens,
  };
}

export function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

/** A count of tokens; undefined for anything else, which is not the same as 0. */
export function asCount(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}
