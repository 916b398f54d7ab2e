// Reads the text of messages.

import type { Message } from "#gen/runnel/v1/message_pb.js";

/** Returns the text of a message. */
export function textOf(message: Message | undefined): string {
  const content = message?.content;
  return content?.case === "parts"
    ? content.value.elements.map(({ text = "" }) => text).join("")
    : (content?.value ?? "");
}
