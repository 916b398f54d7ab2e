// The text of a message, whichever way it is written.

import type { Message } from "#gen/runnel/v1/message_pb.js";

export function messageText(message: Message | undefined): string {
  switch (message?.content.case) {
    case "text":
      return message.content.value;
    case "parts":
      return message.content.value.elements.map((element) => element.text ?? "").join("");
    default:
      return "";
  }
}
