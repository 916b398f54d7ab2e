// The answer that some programs put at the end of a conversation for the model to write.

import type { Message } from "#gen/runnel/v1/message_pb.js";

/** Returns the messages without an empty answer at the end: it says nothing, and a model answers the message before it. */
export function withoutEmptyAnswer(messages: readonly Message[]): readonly Message[] {
  const last = messages.at(-1);
  const isEmpty = last?.role === "assistant" && last.toolCalls.length === 0 && !last.content.value;
  return isEmpty ? messages.slice(0, -1) : messages;
}
