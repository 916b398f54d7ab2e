// Reads the content of messages: text, images, recordings and files. A part of another type is refused: it would be lost.

import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ContentElement, ContentElementSchema, Message } from "#gen/runnel/v1/message_pb.js";
import { textOf } from "../in-process/message-text.ts";
import { invalid, unsupported } from "./errors.ts";
import { Fields } from "./fields.ts";

/** A part of a message of the contract. */
export type Element = Extract<MessageInitShape<typeof ContentElementSchema>, { readonly $typeName?: never }> & {
  readonly type: string;
};

/** Reads a content: a text, or a list of parts. */
export function readContent(item: Fields, name: string): readonly Element[] {
  const content = item.find(name);
  if (typeof content === "string") {
    return [textElement(content)];
  }
  const parts = item.findItems(name);
  if (parts === undefined) {
    throw invalid(item.at(name), "is missing");
  }
  return parts.map((each, index) => {
    const part = new Fields(each, item.at(`${name}[${index}]`));
    const element = readPart(part);
    part.ignore("annotations", "logprobs", "detail", "prompt_cache_breakpoint", "cache_control");
    part.assertAllRead();
    return element;
  });
}

/** Returns the text of a content without other parts. */
export function textOfElements(elements: readonly Element[]): string {
  return elements.map(({ text = "" }) => text).join("");
}

function readPart(part: Fields): Element {
  const type = part.requireText("type");
  switch (type) {
    case "text":
    case "input_text":
    case "output_text":
      return textElement(part.requireText("text"));
    case "encrypted_content":
      // OpenAI encrypts what an agent of Codex writes to another one. Here it is as the model wrote it.
      return textElement(part.requireText("encrypted_content"));
    case "refusal":
      return textElement(part.requireText("refusal"));
    case "image_url": {
      const image = part.requireObject("image_url");
      const element = { type: "image_url", imageUrl: image.requireText("url") };
      image.ignore("detail");
      image.assertAllRead();
      return element;
    }
    case "input_image":
      return { type: "image_url", imageUrl: part.requireText("image_url") };
    case "input_audio":
      return readAudio(part.requireObject("input_audio"));
    case "file": {
      const file = part.requireObject("file");
      const element = readFile(file);
      file.assertAllRead();
      return element;
    }
    case "input_file":
      return readFile(part);
    default:
      throw unsupported(part.at("type"), `parts of type ${type} are not supported`);
  }
}

function textElement(text: string): Element {
  return { type: "text", text };
}

function readAudio(audio: Fields): Element {
  const format = audio.requireText("format");
  const type = format === "mp3" ? "mpeg" : format;
  const element = { type: "file_base64", fileBase64: `data:audio/${type};base64,${audio.requireText("data")}` };
  audio.assertAllRead();
  return element;
}

function readFile(file: Fields): Element {
  const name = file.findText("filename");
  const named = name === undefined ? {} : { fileName: name };
  const [data, url] = [file.findText("file_data"), file.findText("file_url")];
  if (data === undefined && url === undefined) {
    const field = file.findText("file_id") === undefined ? "file_data" : "file_id";
    throw unsupported(file.at(field), "send the file itself as file_data: this service keeps no files");
  }
  return data === undefined
    ? { type: "file_url", fileUrl: url ?? "", ...named }
    : { type: "file_base64", fileBase64: data, ...named };
}

/** Returns the content of a user's message as input parts. */
export function inputParts(message: Message): readonly object[] {
  return message.content.case === "parts"
    ? message.content.value.elements.map(inputPart)
    : [{ type: "input_text", text: textOf(message) }];
}

function inputPart({ text, imageUrl, imageBase64, fileUrl, fileBase64, fileName }: ContentElement): object {
  if (imageUrl !== undefined || imageBase64 !== undefined) {
    return { type: "input_image", image_url: imageUrl ?? imageBase64, detail: "auto" };
  }
  if (fileUrl !== undefined || fileBase64 !== undefined) {
    return { type: "input_file", file_url: fileUrl, file_data: fileBase64, filename: fileName };
  }
  return { type: "input_text", text: text ?? "" };
}
