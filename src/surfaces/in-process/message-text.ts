// Reads the text of messages and of tools' results.

import type { Message } from "#gen/runnel/v1/message_pb.js";

/** Returns the text of a message. */
export function textOf(message: Message | undefined): string {
  const content = message?.content;
  return content?.case === "parts"
    ? content.value.elements.map(({ text = "" }) => text).join("")
    : (content?.value ?? "");
}

/** Returns the text of a tool's result, or its JSON. */
export function outputOf(result = "{}"): string {
  const { content }: { content?: unknown } = JSON.parse(result);
  return typeof content === "string" ? content : result;
}
