// The message of `runnel run` and `runnel chat`: text from the command line or standard input, and files beside it.

import { isUtf8 } from "node:buffer";
import { basename } from "node:path";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ContentElementSchema } from "#gen/runnel/v1/message_pb.js";
import type { SendMessageRequestSchema } from "#gen/runnel/v1/session_service_pb.js";
import { kindOf, sniffMediaType } from "../platform/base/media-type.ts";
import { CommandError } from "./command-error.ts";
import { decodeText, nameOf, readInput } from "./input.ts";

type Input = Pick<MessageInitShape<typeof SendMessageRequestSchema>, "message" | "messages">;

/** The contract's limit of a message. */
const messageBytesMax = 4_000_000;

/** Returns what SendMessage takes. The word `-` means the text of standard input. Throws a `CommandError`. */
export async function readMessage(words: string, paths: readonly string[]): Promise<Input> {
  const message = words === "-" ? decodeText(nameOf("-"), await readInput("-", messageBytesMax)) : words;
  if (message.trim() === "") {
    throw new CommandError("the message is empty", {
      reason: "USAGE",
      fix: "give a text, or - and a text on standard input",
      exitCode: 2,
    });
  }
  if (paths.length === 0) {
    return { message };
  }
  const elements = [{ type: "text", text: message }, ...(await Promise.all(paths.map(readElement)))];
  return { messages: [{ role: "user", content: { case: "parts", value: { elements } } }] };
}

/** Models read few types of files. Text goes to them as text, below the name of its file. */
async function readElement(path: string): Promise<MessageInitShape<typeof ContentElementSchema>> {
  const bytes = await readInput(path, messageBytesMax);
  const mediaType = sniffMediaType(bytes);
  if (mediaType === undefined && isUtf8(bytes) && !bytes.includes(0)) {
    return { type: "text", text: `${basename(path)}:\n${bytes}` };
  }
  const data = bytes.toString("base64");
  return kindOf(mediaType ?? "") === "image"
    ? { type: "image_base64", imageBase64: data }
    : { type: "file_base64", fileBase64: data, fileName: basename(path) };
}
