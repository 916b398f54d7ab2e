// Helpers that all frame readers share: finish reasons, usage figures, and values of unknown type.

import { memberOf } from "../../../platform/base/json/free.ts";
import { type JsonNode, JsonTextError, parseJsonText } from "../../../platform/base/json/text.ts";
import type { FinishReason, ModelUsage } from "../model.ts";

/** The end of a response as its frames describe it. */
export interface FrameFinish {
  /** `failed` for words that mean a problem at the provider. */
  readonly reason: FinishReason | "failed";
  /** The provider's own word, or its explanation of a refusal. */
  readonly word: string;
}

/** Merges two usages. Later figures win; figures that are missing later keep their earlier value. */
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

/** Returns the value as a record, or an empty record when it is not an object. */
export function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

/** Returns a token count, or undefined for any other value; undefined does not mean 0. */
export function asCount(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

/**
 * Returns a value inside a frame as it is written, such as the arguments of a call that are no text: JSON.parse would round their
 * numbers. Returns an empty text when the frame has no such value.
 */
export function exactTextOf(frame: string, path: readonly (string | number)[]): string {
  try {
    let node: JsonNode | undefined = parseJsonText(frame);
    for (const step of path) {
      node = typeof step === "string" ? memberOf(node, step) : node?.kind === "array" ? node.items[step] : undefined;
    }
    return node === undefined ? "" : frame.slice(node.start, node.end);
  } catch (error) {
    if (error instanceof JsonTextError) {
      return "";
    }
    throw error;
  }
}
