// One response of the AI SDK, part by part, as ModelParts. No socket, no clock. Tool calls are held back until the
// response proves whole, so that no call of a cut response is ever run; the end is exactly one finish or failure.

import {
  APICallError,
  InvalidResponseDataError,
  JSONParseError,
  type LanguageModelV4StreamPart,
  type LanguageModelV4ToolCall,
} from "@ai-sdk/provider";
import type { ModelFailure, ModelPart, ModelUsage } from "../model.ts";
import { endResponse } from "../wire/end.ts";
import { describeCut, describeStreamError, describeUnreadable, findFailure } from "../wire/failures.ts";
import { type FrameFinish, mergeUsage } from "../wire/frame.ts";
import type { Dialect, Frame } from "./dialect.ts";
import { Replay } from "./replay.ts";

/**
 * Takes the parts in order; gives what each one amounts to. Nothing may be fed after a finish or failure came out.
 * Undefined is the end of a stream that had no finish part, as the SDK leaves it when nothing was said before a cut.
 */
export type PartReader = (part: LanguageModelV4StreamPart | undefined) => ModelPart[];

export function createPartReader(provider: string, dialect: Dialect): PartReader {
  const calls: ModelPart[] = [];
  const replay = new Replay(dialect);
  let frame: Frame = { hasContent: false };
  // Kept here because the SDK forgets the end and the figures when a later frame is unreadable.
  let finish: FrameFinish | undefined;
  let usage: ModelUsage | undefined;
  let refusal = "";

  const readRaw = (value: unknown): ModelPart[] => {
    frame = dialect.readFrame(value);
    finish = frame.finish ?? finish;
    refusal += frame.refusal ?? "";
    if (frame.wantsThoughts === true) {
      replay.keepThoughts();
    }
    const parts: ModelPart[] = [];
    if (frame.reasoning !== undefined && frame.reasoning !== "") {
      parts.push({ type: "reasoning", text: frame.reasoning });
    }
    if (frame.usage !== undefined) {
      usage = mergeUsage(usage, frame.usage) ?? frame.usage;
      parts.push({ type: "usage", usage });
    }
    if (frame.error !== undefined) {
      parts.push(describeStreamError(frame.error));
    }
    return parts;
  };

  const end = (): ModelPart[] =>
    endResponse({ provider, finish, calls, usage, refusal, state: replay.state(provider) });

  return (received) => {
    if (received === undefined) {
      return end();
    }
    const part = nameCall(received, dialect, calls.length);
    replay.add(part);
    switch (part.type) {
      case "raw":
        return readRaw(part.rawValue);
      case "text-delta":
        // The SDK passes refusals on as text.
        return part.delta === "" || part.delta === frame.refusal ? [] : [{ type: "text", text: part.delta }];
      case "reasoning-delta":
        return part.delta === "" ? [] : [{ type: "reasoning", text: part.delta }];
      case "tool-input-delta":
        return [{ type: "call-piece", text: part.delta }];
      case "tool-call":
        calls.push(toCallPart(part));
        return [];
      case "error":
        return isLoss(part.error, frame) ? [describeUnreadable(provider, "a frame has an unknown form")] : [];
      case "finish":
        return end();
      default:
        return [];
    }
  };
}

/** For an error that came in place of the stream of parts; undefined when it is a defect of ours. */
export function readRefusedStream(dialect: Dialect, error: unknown): ModelFailure | undefined {
  // Some of the SDK's providers look at the first frames themselves and throw the error that stands there.
  const frame = APICallError.isInstance(error) ? dialect.readFrame(error.data) : undefined;
  return findFailure(error) ?? (frame?.error === undefined ? undefined : describeStreamError(frame.error));
}

/** For an error that the stream of parts itself threw. */
export function readBrokenStream(provider: string, error: unknown): ModelFailure {
  if (InvalidResponseDataError.isInstance(error)) {
    return describeUnreadable(provider, "a tool call has no name");
  }
  return findFailure(error) ?? describeCut(provider, error);
}

function nameCall(part: LanguageModelV4StreamPart, { callId }: Dialect, index: number): LanguageModelV4StreamPart {
  return callId !== undefined && part.type === "tool-call"
    ? { ...part, toolCallId: callId(part.toolCallId, index) }
    : part;
}

function toCallPart(call: LanguageModelV4ToolCall): ModelPart {
  return { type: "tool-call", call: { id: call.toolCallId, name: call.toolName, argumentsJson: call.input } };
}

// A line that is no JSON and a frame without content (a ping of a gateway) are passed over. A missing end is judged at
// the end itself, where the SDK reports it a second time.
function isLoss(error: unknown, frame: Frame): boolean {
  return !JSONParseError.isInstance(error) && !InvalidResponseDataError.isInstance(error) && frame.hasContent;
}
