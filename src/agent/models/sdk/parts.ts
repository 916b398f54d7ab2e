// Turns one response of the AI SDK into ModelParts, part by part. No socket, no clock. Tool calls are held back until the
// response is complete, so that a call of a cut response never runs. The end is exactly one finish or failure.

import {
  APICallError,
  InvalidResponseDataError,
  JSONParseError,
  type LanguageModelV4StreamPart,
} from "@ai-sdk/provider";
import type { ModelFailure, ModelPart, ModelToolCall, ModelUsage } from "../model.ts";
import { endResponse } from "../wire/end.ts";
import { describeCut, describeStreamError, describeUnreadable, findFailure } from "../wire/failures.ts";
import { type FrameFinish, isLostFrame, mergeUsage } from "../wire/frame.ts";
import type { Dialect, Frame } from "./dialect.ts";
import { Replay } from "./replay.ts";

/**
 * Takes the SDK's parts in order and returns ours. Do not call it again after a finish or failure. Undefined marks the end of a
 * stream without a finish part, which the SDK produces when the stream was cut before any output.
 */
export type PartReader = (part: LanguageModelV4StreamPart | undefined) => ModelPart[];

/** Creates the reader of one response. */
export function createPartReader(provider: string, dialect: Dialect): PartReader {
  const calls: ModelToolCall[] = [];
  const replay = new Replay(dialect);
  let frame: Frame = { hasContent: false };
  // Kept here because the SDK forgets the finish and the usage when a later frame is unreadable.
  let finish: FrameFinish | undefined;
  let usage: ModelUsage | undefined;
  let refusal = "";
  let hasLost = false;
  let hasBegunCall = false;

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
    endResponse({
      provider,
      finish,
      calls,
      usage,
      refusal,
      hasLost,
      hasBegunCall: hasBegunCall || calls.length > 0,
      state: replay.state(provider, finish?.reason === "length"),
    });

  return (part) => {
    if (part === undefined) {
      return end();
    }
    replay.add(part);
    switch (part.type) {
      case "raw":
        return readRaw(part.rawValue);
      case "text-delta":
        // The SDK passes refusals on as text.
        return part.delta === "" || part.delta === frame.refusal ? [] : [{ type: "text", text: part.delta }];
      case "reasoning-delta":
        return part.delta === "" ? [] : [{ type: "reasoning", text: part.delta }];
      case "tool-input-start":
        hasBegunCall = true;
        return [];
      case "tool-input-delta":
        return [{ type: "call-piece", text: part.delta }];
      case "tool-call":
        calls.push({ id: part.toolCallId, name: part.toolName, argumentsJson: part.input });
        return [];
      case "error":
        hasLost ||= finish === undefined && JSONParseError.isInstance(part.error) && isLostFrame(part.error.text);
        return isLoss(part.error, frame) ? [describeUnreadable(provider, "a frame has an unknown form")] : [];
      case "finish":
        return end();
      default:
        return [];
    }
  };
}

/** Describes an error that the SDK threw in place of a stream. Returns undefined when it is a defect of ours. */
export function readRefusedStream(dialect: Dialect, error: unknown): ModelFailure | undefined {
  // Some of the SDK's providers read the first frames themselves and throw the error found there.
  const frame = APICallError.isInstance(error) ? dialect.readFrame(error.data) : undefined;
  return findFailure(error) ?? (frame?.error === undefined ? undefined : describeStreamError(frame.error));
}

/** Describes an error that the SDK's stream threw. */
export function readBrokenStream(provider: string, error: unknown): ModelFailure {
  if (InvalidResponseDataError.isInstance(error)) {
    return describeUnreadable(provider, "a tool call has no name");
  }
  return findFailure(error) ?? describeCut(provider, error);
}

// Frames without content (a gateway's ping) are skipped, and so is invalid JSON: the end of the response judges whether a call may
// lack it. The end judges a missing finish too, which the SDK reports a second time there.
function isLoss(error: unknown, frame: Frame): boolean {
  return !JSONParseError.isInstance(error) && !InvalidResponseDataError.isInstance(error) && frame.hasContent;
}
