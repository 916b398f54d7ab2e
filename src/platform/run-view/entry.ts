// What an entry of a log is: its type, its time and its text.

import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { ContentElement, Message } from "#gen/runnel/v1/message_pb.js";
import type { RunResult } from "#gen/runnel/v1/result_pb.js";

/** Returns the text of an entry that completes a message or a run. */
export function textOfEntry({ payload }: RunResult): string {
  switch (payload.case) {
    case "messageCompleted":
      return textOf(payload.value.message);
    case "runCompleted":
      return textOf(payload.value.message) || payload.value.output;
    default:
      return "";
  }
}

/** Returns the text of a message; parts that are no text become a short description. */
export function textOf(message: Message | undefined): string {
  switch (message?.content.case) {
    case "text":
      return message.content.value;
    case "parts":
      return message.content.value.elements.map(describePart).join("\n\n");
    default:
      return "";
  }
}

/** Returns the text of a part; of another one its type, with its name or its address. */
export function describePart({ type, text, fileName, imageUrl, fileUrl }: ContentElement): string {
  const about = fileName ?? imageUrl ?? fileUrl;
  return text ?? `[${type}${about === undefined ? "" : ` ${about}`}]`;
}

/** Returns the name of an entry's type, such as `tool.call.started`. */
export function typeName({ payload }: RunResult): string {
  return payload.case === undefined
    ? "unknown"
    : payload.case.replace(/[A-Z]/g, (letter) => `.${letter.toLowerCase()}`);
}

export function timeOf({ createTime }: RunResult): number {
  return createTime === undefined ? 0 : timestampMs(createTime);
}
