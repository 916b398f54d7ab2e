// The result of an MCP server's tool as the outcome of a call. Pure; bounded by the caps of all tools.

import { isObject } from "../../../platform/base/json/parse-object.ts";
import { capContent } from "../cap.ts";
import type { ToolMedia, ToolOutcome } from "../tool.ts";
import type { Answered } from "./connection.ts";
import { errorCharsMax, mediaCharsMax } from "./limits.ts";

/** Returns the outcome. A result that says that it is an error is the error of the call. A block that cannot be read is left out, with a notice. */
export function readResult({ content, structuredContent, isError }: Answered): ToolOutcome {
  const media: ToolMedia[] = [];
  const blocks = Array.isArray(content) ? content : [content ?? ""];
  const texts = blocks.map((block) => readBlock(block, media)).filter((text) => text !== "");
  const isStructured = structuredContent != null && media.length === 0;
  const text = texts.join("\n") || (isStructured ? JSON.stringify(structuredContent) : "");
  if (isError === true) {
    return { error: (text || "the tool failed without a reason").slice(0, errorCharsMax) };
  }
  return {
    content: text,
    ...(media.length > 0 && { media }),
    ...(isObject(structuredContent) && isShort(structuredContent) && { structured: structuredContent }),
  };
}

/** Returns the error of a call whose server asks for input, such as `the server asks for roots/list, which …`. */
export function describeAsked(requests: unknown): string {
  const all = isObject(requests) ? Object.values(requests) : [];
  const asked = all.map((request) => (isObject(request) ? String(request.method) : "input")).join(", ") || "input";
  return `the server asks for ${asked.slice(0, errorCharsMax)}, which this service does not give`;
}

/** A long one would double the size of the result: its text has it too. */
function isShort(value: object): boolean {
  const json = JSON.stringify(value);
  return capContent(json) === json;
}

/** Returns the text of a block. Adds its image or recording to `media`. */
function readBlock(block: unknown, media: ToolMedia[]): string {
  if (!isObject(block)) {
    return textOf(block);
  }
  switch (block.type) {
    case "text":
      return textOf(block.text);
    case "image":
    case "audio":
      return addMedia({ type: block.type, mediaType: textOf(block.mimeType), data: textOf(block.data) }, media);
    case "resource":
      return readResource(isObject(block.resource) ? block.resource : {}, media);
    case "resource_link": {
      const { uri, mimeType, name = uri } = block;
      return `[${textOf(name)}: ${textOf(uri)}${mimeType == null ? "" : `, ${textOf(mimeType)}`}]`;
    }
    default:
      return "[content of an unknown type, left out]";
  }
}

function readResource({ uri, mimeType, text, blob }: Answered, media: ToolMedia[]): string {
  if (text != null) {
    return `[${textOf(uri)}]\n${textOf(text)}`;
  }
  const mediaType = textOf(mimeType) || "application/octet-stream";
  const data = textOf(blob);
  const [kind] = mediaType.split("/");
  return kind === "image" || kind === "audio"
    ? addMedia({ type: kind, mediaType, data }, media)
    : `[${textOf(uri)}: ${mediaType}, ${Buffer.byteLength(data, "base64")} bytes, left out]`;
}

/** Some servers write values where a text belongs. */
function textOf(value: unknown): string {
  return typeof value === "string" ? value : value == null ? "" : JSON.stringify(value);
}

function addMedia(item: ToolMedia, media: ToolMedia[]): string {
  const chars = media.reduce((sum, { data }) => sum + data.length, item.data.length);
  if (!/^[A-Za-z0-9+/=\s]*$/.test(item.data) || !/^[\w.+-]+\/[\w.+-]+$/.test(item.mediaType)) {
    return `[${item.type} that cannot be read, left out]`;
  }
  if (chars > mediaCharsMax) {
    return `[${item.type} of ${Buffer.byteLength(item.data, "base64")} bytes, left out: the result is too large]`;
  }
  media.push(item);
  return "";
}
