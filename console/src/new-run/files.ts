// Files of a message: read in the page, and sent as parts of the message.

import { create } from "@bufbuild/protobuf";
import { type ContentElement, ContentElementSchema, type Message, MessageSchema } from "#gen/runnel/v1/message_pb.js";

/** Reads a file as a part of a message. */
export async function readFile(file: File): Promise<ContentElement> {
  const url = await readUrl(file);
  const content = file.type.startsWith("image/")
    ? { type: "image_base64", imageBase64: url }
    : { type: "file_base64", fileBase64: url };
  return create(ContentElementSchema, { ...content, fileName: file.name });
}

/** Returns the parts of a message that are no text. */
export function filesOf(message: Message | undefined): readonly ContentElement[] {
  return message?.content.case === "parts" ? message.content.value.elements.filter(({ type }) => type !== "text") : [];
}

/** Returns the text of a message without its files. */
export function wordsOf(message: Message | undefined): string {
  return message?.content.case === "parts"
    ? message.content.value.elements.flatMap(({ text }) => text ?? []).join("\n\n")
    : (message?.content.value ?? "");
}

/** Returns the message of a user with its text and files. */
export function withFiles(text: string, files: readonly ContentElement[]): Message {
  if (files.length === 0) {
    return create(MessageSchema, { role: "user", content: { case: "text", value: text } });
  }
  const texts = text === "" ? [] : [create(ContentElementSchema, { type: "text", text })];
  const elements = [...texts, ...files];
  return create(MessageSchema, { role: "user", content: { case: "parts", value: { elements } } });
}

export function nameOf({ fileName, imageUrl, fileUrl, type }: ContentElement): string {
  return fileName ?? imageUrl ?? fileUrl ?? type;
}

function readUrl(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => resolve(String(reader.result)));
    reader.addEventListener("error", () => reject(new Error(`${file.name} cannot be read`, { cause: reader.error })));
    reader.readAsDataURL(file);
  });
}
