// The text of a message, whichever way it is written.

import type { Message } from "#gen/runnel/v1/message_pb.js";
import type { RunCompleted } from "#gen/runnel/v1/result_pb.js";

export function messageText(message: Message | undefined): string {
  return message === undefined ? "" : contentText(message.content);
}

/** The output of a run that completed. */
export function completedText({ message, output }: RunCompleted): string {
  return message === undefined ? output : messageText(message);
}

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
