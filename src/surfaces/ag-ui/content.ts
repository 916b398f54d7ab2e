// The content of messages: text, images, recordings, videos and documents. Clients of 1.0 have a type for each, and those of 0.0.x may
// send all as `binary`.

import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ContentElement, ContentElementSchema, Message } from "#gen/runnel/v1/message_pb.js";
import { textOf } from "../in-process/message-text.ts";
import { RunRefused } from "../in-process/run-refused.ts";
import type { InputReader } from "./input-reader.ts";

type Element = Extract<MessageInitShape<typeof ContentElementSchema>, { readonly $typeName?: never }> & {
  readonly type: string;
};

/** A content of the contract: text alone, or parts. */
export type Content =
  | { readonly case: "text"; readonly value: string }
  | { readonly case: "parts"; readonly value: { readonly elements: Element[] } };

/** Returns the content of a message; undefined when it is missing. Throws RunRefused for a part that models cannot get here. */
export function readContent(message: InputReader): Content | undefined {
  const content = message.find("content");
  if (content === undefined || typeof content === "string") {
    return content === undefined ? undefined : { case: "text", value: content };
  }
  const elements = (message.findObjects("content") ?? []).map(readPart);
  return elements.every(({ type }) => type === "text")
    ? { case: "text", value: elements.map(({ text = "" }) => text).join("") }
    : { case: "parts", value: { elements } };
}

/** Returns the text of a content. Throws RunRefused for other parts. */
export function readText(message: InputReader): string {
  const content = readContent(message);
  if (content?.case === "parts") {
    throw unsupported(message, "instructions are text alone");
  }
  return content?.value ?? "";
}

function readPart(part: InputReader): Element {
  const type = part.requireText("type");
  switch (type) {
    case "text":
      return { type, text: part.hint("text") ?? "" };
    case "image":
    case "audio":
    case "video":
    case "document":
      return readSource(part, type === "image");
    case "binary":
      return readBinary(part);
    default:
      throw unsupported(part, `parts of type ${type} are not supported`);
  }
}

function readSource(part: InputReader, isImage: boolean): Element {
  const source = part.requireObject("source");
  const name = part.findObject("metadata")?.hint("filename");
  switch (source.requireText("type")) {
    case "data":
      return dataElement(isImage, dataUrlOf(source.requireText("mimeType"), source.requireText("value")), name);
    case "url":
      return urlElement(isImage, source.requireText("value"), name);
    default:
      throw unsupported(source, "send data or a url: this service keeps no files");
  }
}

function readBinary(part: InputReader): Element {
  const mimeType = part.requireText("mimeType");
  const isImage = mimeType.startsWith("image/");
  const [data, url, name] = [part.hint("data"), part.hint("url"), part.hint("filename")];
  if (data === undefined && url === undefined) {
    throw unsupported(part, "send data or a url: this service keeps no files");
  }
  return data === undefined
    ? urlElement(isImage, url ?? "", name)
    : dataElement(isImage, dataUrlOf(mimeType, data), name);
}

function unsupported({ path }: InputReader, problem: string): RunRefused {
  return new RunRefused("unsupported_content", `${path}: ${problem}`);
}

function dataUrlOf(mimeType: string, data: string): string {
  return data.startsWith("data:") ? data : `data:${mimeType};base64,${data}`;
}

function dataElement(isImage: boolean, dataUrl: string, fileName: string | undefined): Element {
  const named = fileName === undefined ? {} : { fileName };
  return isImage
    ? { type: "image_base64", imageBase64: dataUrl, ...named }
    : { type: "file_base64", fileBase64: dataUrl, ...named };
}

function urlElement(isImage: boolean, url: string, fileName: string | undefined): Element {
  const named = fileName === undefined ? {} : { fileName };
  return isImage ? { type: "image_url", imageUrl: url, ...named } : { type: "file_url", fileUrl: url, ...named };
}

/** Returns whether a message of the thread has a content. */
export function hasContent({ content }: Message, other: Content | undefined): boolean {
  if (content.case !== "parts" || other?.case !== "parts") {
    return content.case !== "parts" && other?.case !== "parts" && (content.value ?? "") === (other?.value ?? "");
  }
  return print(content.value.elements) === print(other.value.elements);
}

function print(elements: readonly (ContentElement | Element)[]): string {
  return JSON.stringify(
    elements.map(({ type, text, imageUrl, imageBase64, fileUrl, fileBase64, fileName }) => {
      return [type, text, imageUrl, imageBase64, fileUrl, fileBase64, fileName];
    }),
  );
}

/** Returns the content of a message as clients keep it. */
export function contentOf(message: Message): string | readonly object[] {
  return message.content.case === "parts" ? message.content.value.elements.map(partOf) : textOf(message);
}

function partOf(element: ContentElement): object {
  const { type, text, fileName } = element;
  const { imageUrl, imageBase64, fileUrl, fileBase64 } = element;
  const place = imageUrl ?? imageBase64 ?? fileUrl ?? fileBase64;
  if (place === undefined) {
    return { type: "text", text: text ?? "" };
  }
  const source = sourceOf(place, imageBase64 !== undefined || fileBase64 !== undefined);
  return {
    type: type.startsWith("image") ? "image" : kindOf(source.mimeType),
    source,
    ...(fileName !== undefined && { metadata: { filename: fileName } }),
  };
}

interface Source {
  readonly type: "data" | "url";
  readonly value: string;
  readonly mimeType?: string;
}

function sourceOf(place: string, isData: boolean): Source {
  const [, mimeType = ""] = /^data:([^;,]*)/.exec(place) ?? [];
  if (mimeType !== "") {
    return { type: "data", value: place.slice(place.indexOf(",") + 1), mimeType };
  }
  return isData ? { type: "data", value: place, mimeType: "application/octet-stream" } : { type: "url", value: place };
}

function kindOf(mimeType = ""): string {
  const [kind = ""] = mimeType.split("/");
  return kind === "audio" || kind === "video" ? kind : "document";
}
