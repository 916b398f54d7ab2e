// The content of a prompt as a message of a session, and the other way round.

import type { ContentBlock } from "@agentclientprotocol/sdk";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ContentElement, Message, MessageSchema } from "#gen/runnel/v1/message_pb.js";
import { textOf } from "../show.ts";
import { invalid } from "./refusals.ts";

/** Returns the message of a prompt. Throws RequestError for content that agents of Runnel do not take. */
export function messageOf(blocks: readonly ContentBlock[]): MessageInitShape<typeof MessageSchema> {
  const elements = blocks.map(elementOf);
  const isText = elements.every(({ type }) => type === "text");
  return {
    role: "user",
    content: isText
      ? { case: "text", value: elements.map(({ text = "" }) => text).join("\n") }
      : { case: "parts", value: { elements } },
  };
}

type Element = { readonly type: string } & Partial<
  Pick<ContentElement, "text" | "imageBase64" | "fileBase64" | "fileName">
>;

function elementOf(block: ContentBlock): Element {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text };
    case "image":
      return { type: "image_base64", imageBase64: dataUrl(block.mimeType, block.data) };
    case "resource_link":
      return { type: "text", text: `[${block.title ?? block.name}](${block.uri})` };
    case "resource": {
      const { resource } = block;
      return "text" in resource
        ? { type: "text", text: `${resource.uri}:\n\n${resource.text}` }
        : {
            type: "file_base64",
            fileBase64: dataUrl(resource.mimeType ?? "application/octet-stream", resource.blob),
            fileName: resource.uri,
          };
    }
    case "audio":
      throw invalid("invalid prompt: an agent takes text, images, links and resources, and no audio");
    default:
      throw invalid(`invalid prompt: unknown type of content ${JSON.stringify(block satisfies never)}`);
  }
}

function dataUrl(mimeType: string, data: string): string {
  return `data:${mimeType};base64,${data}`;
}

/** Returns the content of a message. Other parts than text and embedded images are named by their type. */
export function blocksOf(message: Message): ContentBlock[] {
  const { content } = message;
  return content.case === "parts" ? content.value.elements.map(blockOf) : [{ type: "text", text: textOf(message) }];
}

function blockOf({ type, text, imageBase64 = "", fileName }: ContentElement): ContentBlock {
  const [, mimeType, data] = /^data:([^;,]+);base64,(.*)$/s.exec(imageBase64) ?? [];
  return mimeType !== undefined && data !== undefined
    ? { type: "image", mimeType, data }
    : { type: "text", text: text ?? `[${fileName ?? type}]` };
}
