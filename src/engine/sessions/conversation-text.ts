// A conversation as a text, for agents elsewhere that begin in the middle of one.

import type { Message } from "#gen/runnel/v1/message_pb.js";
import { messageText } from "./message-text.ts";

/** The maximum characters of the conversation. */
const charsMax = 100_000;

/** Returns the earlier messages as a text; their newest part when they are long. Empty when they have no text. */
export function conversationText(messages: readonly Message[]): string {
  const lines = messages.flatMap((message) => {
    const text = messageText(message);
    return text === "" ? [] : [`${message.role}: ${text}`];
  });
  return lines.length === 0 ? "" : `The conversation so far:\n\n${lines.join("\n\n").slice(-charsMax)}`;
}
