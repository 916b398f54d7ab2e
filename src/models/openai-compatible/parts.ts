// One response of the AI SDK, part by part, as ModelParts. No socket, no clock. Tool calls are held back until the
// response proves whole, so that no call of a cut response is ever run; the end is exactly one finish or failure.

import {
  InvalidResponseDataError,
  JSONParseError,
  type LanguageModelV4StreamPart,
  type LanguageModelV4ToolCall,
} from "@ai-sdk/provider";
import type { FinishReason, ModelFailure, ModelPart, ModelUsage } from "../model.ts";
import { describeBadFinish, describeCut, describeStreamError, describeUnreadable, findFailure } from "./failures.ts";

/** Takes the parts in order; gives what each one amounts to. Nothing may be fed after a finish or failure came out. */
export type PartReader = (part: LanguageModelV4StreamPart) => ModelPart[];

export function createPartReader(provider: string): PartReader {
  const calls: ModelPart[] = [];
  let frame: Frame = readFrame(undefined);
  let finishReason: string | undefined;

  return (part) => {
    switch (part.type) {
      case "raw":
        frame = readFrame(part.rawValue);
        // Kept here because the SDK forgets it when a later frame is unreadable.
        finishReason = frame.finishReason ?? finishReason;
        return frame.error === undefined ? [] : [describeStreamError(frame.error)];
      case "text-delta":
        return [{ type: "text", text: part.delta }];
      case "reasoning-delta":
        return [{ type: "reasoning", text: part.delta }];
      case "tool-call":
        calls.push(toCallPart(part));
        return [];
      case "error":
        return isLoss(part.error, frame) ? [describeUnreadable(provider, "a frame has an unknown form")] : [];
      case "finish":
        return endResponse(provider, finishReason, calls, readUsage(part.usage.raw));
      default:
        return [];
    }
  };
}

/** For an error that the stream of parts itself threw. */
export function readBrokenStream(provider: string, error: unknown): ModelFailure {
  if (InvalidResponseDataError.isInstance(error)) {
    return describeUnreadable(provider, "a tool call has no name");
  }
  return findFailure(error) ?? describeCut(provider, error);
}

const finishReasons: Readonly<Record<string, FinishReason>> = {
  stop: "stop",
  length: "length",
  tool_calls: "tool-calls",
  function_call: "tool-calls",
  content_filter: "content-filter",
};

// Sent by gateways in place of an error object.
const failedFinishReasons: ReadonlySet<string> = new Set(["error", "insufficient_system_resource"]);

interface Frame {
  readonly error: unknown;
  readonly finishReason: string | undefined;
  /** Whether losing this frame would lose a piece of the answer. */
  readonly hasContent: boolean;
}

function readFrame(value: unknown): Frame {
  const fields = asRecord(value);
  const choices = Array.isArray(fields.choices) ? fields.choices : [];
  const reason = asRecord(choices[0]).finish_reason;
  return {
    error: fields.error ?? undefined,
    finishReason: typeof reason === "string" && reason !== "" ? reason : undefined,
    hasContent: choices.length > 0,
  };
}

function toCallPart(call: LanguageModelV4ToolCall): ModelPart {
  return { type: "tool-call", call: { id: call.toolCallId, name: call.toolName, argumentsJson: call.input } };
}

// A line that is no JSON and a frame without choices (a ping of a gateway) are passed over. A missing end is judged at
// the end itself, where the SDK reports it a second time.
function isLoss(error: unknown, frame: Frame): boolean {
  return !JSONParseError.isInstance(error) && !InvalidResponseDataError.isInstance(error) && frame.hasContent;
}

function endResponse(
  provider: string,
  reason: string | undefined,
  calls: readonly ModelPart[],
  usage: ModelUsage | undefined,
): ModelPart[] {
  if (reason === undefined) {
    return [describeCut(provider)];
  }
  if (failedFinishReasons.has(reason)) {
    return [describeBadFinish(provider, reason)];
  }
  const known = finishReasons[reason] ?? "other";
  // Providers say "stop", or words of their own, beside calls that they want made.
  const wantsCalls = calls.length > 0 && (known === "stop" || known === "other");
  return [...calls, { type: "finish", reason: wantsCalls ? "tool-calls" : known, usage }];
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
    cachedTokens: asCount(asRecord(usage.prompt_tokens_details).cached_tokens),
    reasoningTokens: asCount(asRecord(usage.completion_tokens_details).reasoning_tokens),
  };
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function asCount(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}
