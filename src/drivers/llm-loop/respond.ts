// One response of a model: streams its text into the log and gathers what the loop needs to go on.

import { create } from "@bufbuild/protobuf";
import { type ToolCall, ToolCallSchema } from "#gen/runnel/v1/message_pb.js";
import type { FinishReason, Model, ModelFailure, ModelRequest, ModelUsage } from "../../models/model.ts";
import type { DriverStep } from "../../runs/driver.ts";

export interface Response {
  readonly text: string;
  readonly toolCalls: readonly ToolCall[];
  readonly finishReason: FinishReason;
  readonly usage: ModelUsage | undefined;
}

/** A response that did not come to its end. `spoke` tells whether some of it is in the log. */
export interface NoResponse {
  readonly failure: ModelFailure | "aborted";
  readonly spoke: boolean;
}

export async function* respond(
  model: Model,
  request: ModelRequest,
  turn: number,
  signal: AbortSignal,
): AsyncGenerator<DriverStep, Response | NoResponse> {
  let text = "";
  let half = "";
  let spoke = false;
  const toolCalls: ToolCall[] = [];
  for await (const part of model.stream(request, signal)) {
    switch (part.type) {
      case "text": {
        const [whole, rest] = splitHalfCharacter(half + part.text);
        half = rest;
        text += part.text;
        spoke = true;
        if (whole !== "") {
          yield textDelta(whole, turn);
        }
        break;
      }
      case "reasoning":
        spoke = true;
        yield { kind: "append", result: { payload: { case: "reasoningDelta", value: { content: part.text } } } };
        break;
      case "tool-call": {
        const { id, name, argumentsJson } = part.call;
        toolCalls.push(create(ToolCallSchema, { id, name, arguments: argumentsJson }));
        break;
      }
      case "finish":
        if (half !== "") {
          yield textDelta(half, turn);
        }
        return { text, toolCalls, finishReason: part.reason, usage: part.usage };
      case "failure":
        return { failure: part, spoke };
      default:
        return part satisfies never;
    }
  }
  return { failure: "aborted", spoke };
}

/** A provider may cut between the halves of a surrogate pair, and half a character cannot be written. */
function splitHalfCharacter(text: string): [whole: string, rest: string] {
  const endsInHalf = /[\uD800-\uDBFF]$/.test(text);
  return endsInHalf ? [text.slice(0, -1), text.slice(-1)] : [text, ""];
}

function textDelta(content: string, turn: number): DriverStep {
  const value = { chunk: { role: "assistant", content, msgSequence: turn } };
  return { kind: "append", result: { payload: { case: "messageDelta", value } } };
}
