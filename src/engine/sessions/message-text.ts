// Reads the text of messages, in both forms that the contract has.

import type { Message } from "#gen/runnel/v1/message_pb.js";
import type { RunCompleted } from "#gen/runnel/v1/result_pb.js";

/** Returns the text of a message; empty for undefined. */
export function messageText(message: Message | undefined): string {
  return message === undefined ? "" : contentText(message.content);
}

/** Returns the output of a completed run. */
export function completedText({ message, output }: RunCompleted): string {
  return message === undefined ? output : messageText(message);
}

/** Returns the text of a message's content. Parts without text count as empty. */
export function contentText(content: Message["content"]): string {
  switch (content.case) {
    case "text":
      return content.value;
    case "parts":
      return content.value.elements.map((element) => element.text ?? "").join("");
    default:
      return "";
  }
}
