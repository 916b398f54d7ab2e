// Reads the content of messages: text, images and documents. A block of another type is refused: it would be lost.

import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ContentElementSchema } from "#gen/runnel/v1/message_pb.js";
import { ApiError, invalid } from "./errors.ts";
import { Fields } from "./fields.ts";

/** A part of a message of the contract. */
export type Element = Extract<MessageInitShape<typeof ContentElementSchema>, { readonly $typeName?: never }> & {
  readonly type: string;
};

/** A content of the contract: text alone, or parts. */
export type Content =
  | { readonly case: "text"; readonly value: string }
  | { readonly case: "parts"; readonly value: { readonly elements: Element[] } };

/** Reads a content that is a text or a list of blocks; undefined when it is missing. */
export function readBlocks(item: Fields, name: string): readonly Fields[] | undefined {
  const content = item.find(name);
  return typeof content === "string"
    ? [new Fields({ type: "text", text: content }, item.at(name))]
    : item.findObjects(name);
}

/** Returns the texts of blocks that must be text, as of a system prompt. */
export function readTexts(item: Fields, name: string): string[] {
  return (readBlocks(item, name) ?? []).map((block) => {
    if (block.requireText("type") !== "text") {
      throw invalid(block.at("type"), "must be text");
    }
    return block.requireText("text");
  });
}

/** Returns blocks as a content. Texts that stand alone are one text, in lines of their own. */
export function contentOf(blocks: readonly Fields[]): Content {
  const elements = blocks.flatMap(readElements);
  return elements.every(({ type }) => type === "text")
    ? { case: "text", value: elements.map(({ text = "" }) => text).join("\n") }
    : { case: "parts", value: { elements } };
}

function readElements(block: Fields): readonly Element[] {
  const type = block.requireText("type");
  switch (type) {
    case "text":
      return [textElement(block.requireText("text"))];
    case "image":
      return [readImage(block.requireObject("source"))];
    case "document":
      return readDocument(block);
    case "search_result":
      return [
        textElement([block.findText("title"), block.findText("source")].filter(Boolean).join("\n")),
        ...nested(block),
      ];
    case "tool_reference":
      return [textElement(block.requireText("tool_name"))];
    default:
      throw new ApiError(400, `${block.at("type")}: blocks of type ${type} are not supported here`);
  }
}

function nested(block: Fields): readonly Element[] {
  return (readBlocks(block, "content") ?? []).flatMap(readElements);
}

function textElement(text: string): Element {
  return { type: "text", text: text };
}

function readImage(source: Fields): Element {
  switch (source.requireText("type")) {
    case "base64":
      return { type: "image_base64", imageBase64: dataUrlOf(source) };
    case "url":
      return { type: "image_url", imageUrl: source.requireText("url") };
    default:
      throw notKept(source);
  }
}

function readDocument(block: Fields): readonly Element[] {
  const source = block.requireObject("source");
  const title = block.findText("title");
  const named = title === undefined ? {} : { fileName: title };
  switch (source.requireText("type")) {
    case "base64":
      return [{ type: "file_base64", fileBase64: dataUrlOf(source), ...named }];
    case "url":
      return [{ type: "file_url", fileUrl: source.requireText("url"), ...named }];
    case "text":
      return [textElement([title, block.findText("context"), source.requireText("data")].filter(Boolean).join("\n"))];
    case "content":
      return nested(source);
    default:
      throw notKept(source);
  }
}

function dataUrlOf(source: Fields): string {
  return `data:${source.requireText("media_type")};base64,${source.requireText("data")}`;
}

function notKept(source: Fields): ApiError {
  return new ApiError(400, `${source.at("type")}: send the content as base64 or its URL: this service keeps no files`);
}
