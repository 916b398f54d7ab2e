// Reads the frames of the Messages format. The usage arrives in parts, some at the start and some at the end of a response, so
// each response needs its own dialect.

import type { FinishReason, ModelUsage } from "../model.ts";
import type { Dialect, Frame } from "../sdk/dialect.ts";
import { asCount, asRecord, type FrameFinish } from "../wire/frame.ts";

/** Returns the dialect for one response. It keeps the counts seen so far. */
export function createMessagesDialect(): Dialect {
  let counts: Counts = {};
  const count = (raw: unknown): ModelUsage | undefined => {
    const newer = readCounts(asRecord(raw));
    counts = { ...counts, ...newer };
    return Object.keys(newer).length === 0 ? undefined : toUsage(counts);
  };
  return {
    // The SDK also records which caller made a call. Only the model may call our tools, so this is not worth keeping.
    isWorthKeeping: ({ anthropic }) => anthropic?.signature !== undefined || anthropic?.redactedData !== undefined,
    readFrame: (value) => {
      const fields = asRecord(value);
      switch (fields.type) {
        case "content_block_delta":
          return contentTypes.has(asRecord(fields.delta).type) ? content : noContent;
        case "content_block_start":
          return contentTypes.has(asRecord(fields.content_block).type) ? content : noContent;
        case "message_start":
          return { usage: count(asRecord(fields.message).usage), hasContent: false };
        case "message_delta":
          return { finish: readFinish(asRecord(fields.delta)), usage: count(fields.usage), hasContent: false };
        case "error":
          return { error: fields.error ?? fields, hasContent: false };
        default:
          // Gateways send their own errors without a type.
          return fields.error === undefined || fields.error === null
            ? noContent
            : { ...noContent, error: fields.error };
      }
    },
  };
}

// Shared objects, because a response has thousands of frames.
const content: Frame = { hasContent: true };
const noContent: Frame = { hasContent: false };

// The types that we ask for. The service may add types of blocks and deltas at any time; those are skipped.
const contentTypes: ReadonlySet<unknown> = new Set([
  "text",
  "text_delta",
  "thinking",
  "thinking_delta",
  "signature_delta",
  "redacted_thinking",
  "tool_use",
  "input_json_delta",
]);

const finishReasons: ReadonlyMap<string, FinishReason> = new Map([
  ["end_turn", "stop"],
  ["stop_sequence", "stop"],
  ["max_tokens", "length"],
  ["model_context_window_exceeded", "length"],
  ["tool_use", "tool-calls"],
  ["refusal", "content-filter"],
  // `pause_turn` asks to continue with tools that run at the provider. We offer no such tools, so it maps to "other".
]);

function readFinish(delta: Readonly<Record<string, unknown>>): FrameFinish | undefined {
  const word = delta.stop_reason;
  if (typeof word !== "string" || word === "") {
    return undefined;
  }
  // Both are null when no category fits, and missing in older models.
  const { category, explanation } = asRecord(delta.stop_details);
  const said = [word, category, explanation].filter((text) => typeof text === "string" && text !== "");
  return { reason: finishReasons.get(word) ?? "other", word: said.join(": ") };
}

/** Cumulative counts of the response, each with its latest value. `input` excludes tokens read from or written to the cache. */
interface Counts {
  readonly input?: number;
  readonly cacheRead?: number;
  readonly cacheWritten?: number;
  readonly output?: number;
  readonly thinking?: number;
}

function readCounts(raw: Readonly<Record<string, unknown>>): Counts {
  const given = {
    input: asCount(raw.input_tokens),
    cacheRead: asCount(raw.cache_read_input_tokens),
    cacheWritten: asCount(raw.cache_creation_input_tokens),
    output: asCount(raw.output_tokens),
    thinking: asCount(asRecord(raw.output_tokens_details).thinking_tokens),
  };
  return Object.fromEntries(Object.entries(given).filter(([, tokens]) => tokens !== undefined));
}

function toUsage({ input, cacheRead, cacheWritten, output, thinking }: Counts): ModelUsage {
  return {
    promptTokens: input === undefined ? undefined : input + (cacheRead ?? 0) + (cacheWritten ?? 0),
    completionTokens: output,
    totalTokens: undefined,
    cachedTokens: cacheRead,
    reasoningTokens: thinking,
  };
}
