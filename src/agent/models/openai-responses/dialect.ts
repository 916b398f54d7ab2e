// Reads the frames of the Responses format.

import type { FinishReason, ModelUsage } from "../model.ts";
import type { Dialect, Frame } from "../sdk/dialect.ts";
import { asCount, asRecord } from "../wire/frame.ts";

type Fields = Readonly<Record<string, unknown>>;

/** The dialect of the Responses format. One object serves all responses. */
export const responsesDialect: Dialect = {
  stateKind: "responses",
  isWorthKeeping: ({ openai }) => keptKeys.some((key) => (openai?.[key] ?? null) !== null),
  readFrame: (value) => {
    const frame = asRecord(value);
    switch (frame.type) {
      case "response.output_text.delta":
      case "response.output_item.done":
        return piece;
      case "response.refusal.delta":
        return { refusal: asText(frame.delta), hasContent: true };
      case "response.reasoning_text.delta":
        return { reasoning: asText(frame.delta), hasContent: false };
      case "response.completed":
      case "response.incomplete":
      case "response.failed":
        return readEnd(frame.type, asRecord(frame.response));
      case "error":
        return { error: frame.error ?? frame, hasContent: false };
      default:
        // Gateways send errors of their own shape. `choices` belongs to Chat Completions: such an answer would be lost unread.
        return { error: frame.error ?? undefined, hasContent: Array.isArray(frame.choices) };
    }
  },
};

// Ids alone are useless, because nothing is stored under them.
const keptKeys = ["reasoningEncryptedContent", "phase", "namespace", "caller"] as const;

const piece: Frame = { hasContent: true };

const incompleteReasons = new Map<string, FinishReason>([
  ["max_output_tokens", "length"],
  ["max_tokens", "length"],
  ["content_filter", "content-filter"],
]);

function readEnd(type: "response.completed" | "response.incomplete" | "response.failed", response: Fields): Frame {
  const usage = readUsage(response.usage);
  switch (type) {
    case "response.completed":
      return { finish: { reason: "stop", word: "completed" }, usage, hasContent: false };
    case "response.incomplete": {
      const word = asText(asRecord(response.incomplete_details).reason) ?? "incomplete";
      return { finish: { reason: incompleteReasons.get(word) ?? "other", word }, usage, hasContent: false };
    }
    case "response.failed":
      return {
        error: response.error ?? undefined,
        finish: { reason: "failed", word: "failed" },
        usage,
        hasContent: false,
      };
    default:
      return type satisfies never;
  }
}

function asText(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

// The SDK's own figures turn missing values into 0.
function readUsage(raw: unknown): ModelUsage | undefined {
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
