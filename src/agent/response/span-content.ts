// Prints requests and responses of a model in the form of the GenAI conventions, for traces that record content.

import type { ToolCall } from "#gen/runnel/v1/message_pb.js";
import type { FinishReason, ModelMessage, ModelToolCall } from "../models/model.ts";

/** The maximum number of messages in a span. New messages are at the end of a request, and a span has little room. */
const newestMessagesMax = 8;

/** Returns the newest messages as JSON text. */
export function printMessages(messages: readonly ModelMessage[]): string {
  return JSON.stringify(
    messages.slice(-newestMessagesMax).map((message) => ({ role: message.role, parts: partsOf(message) })),
  );
}

/** The part of a response that a span holds. */
interface Said {
  readonly text: string;
  readonly toolCalls: readonly ToolCall[];
  readonly finishReason: FinishReason;
}

/** Returns a response as JSON text. */
export function printResponse({ text, toolCalls, finishReason }: Said): string {
  const calls = toolCalls.map(({ id, name, arguments: argumentsJson }) => ({ id, name, argumentsJson }));
  return JSON.stringify([{ role: "assistant", parts: saidParts(text, calls), finish_reason: finishReason }]);
}

function partsOf(message: ModelMessage): object[] {
  switch (message.role) {
    case "user":
      return saidParts(message.text, []);
    case "assistant":
      return saidParts(message.text, message.toolCalls);
    case "tool":
      return [{ type: "tool_call_response", id: message.toolCallId, response: message.text }];
    default:
      return message satisfies never;
  }
}

function saidParts(text: string, calls: readonly ModelToolCall[]): object[] {
  return [
    ...(text === "" ? [] : [{ type: "text", content: text }]),
    ...calls.map(({ id, name, argumentsJson }) => ({ type: "tool_call", id, name, arguments: argumentsJson })),
  ];
}
