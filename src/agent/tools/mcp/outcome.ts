// The result of an MCP server's tool as the outcome of a call. Pure; bounded by the caps of all tools.

import { isInputRequiredResult } from "@modelcontextprotocol/client";
import { isObject } from "../../../platform/base/json/parse-object.ts";
import { capContent } from "../cap.ts";
import type { ToolMedia, ToolOutcome } from "../tool.ts";
import type { CallToolResult, InputRequiredResult } from "./connection.ts";
import { errorCharsMax, mediaCharsMax } from "./limits.ts";

type Block = CallToolResult["content"][number];

/** Returns the outcome. A result that says that it is an error is the error of the call, and so is one that asks for input. */
export function readResult(result: CallToolResult | InputRequiredResult): ToolOutcome {
  if (isInputRequiredResult(result)) {
    return { error: describeAsked(result.inputRequests) };
  }
  const { content = [], structuredContent, isError } = result;
  const media: ToolMedia[] = [];
  const texts = content.map((block) => readBlock(block, media)).filter((text) => text !== "");
  const isStructured = isObject(structuredContent);
  const text = texts.join("\n") || (isStructured && media.length === 0 ? JSON.stringify(structuredContent) : "");
  if (isError === true) {
    return { error: (text || "the tool failed without a reason").slice(0, errorCharsMax) };
  }
  return {
    content: text,
    ...(media.length > 0 && { media }),
    ...(isStructured && isShort(structuredContent) && { structured: structuredContent }),
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
function readBlock(block: Block, media: ToolMedia[]): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "image":
    case "audio":
      return addMedia({ type: block.type, mediaType: block.mimeType, data: block.data }, media);
    case "resource": {
      const { resource } = block;
      const { uri, mimeType = "application/octet-stream" } = resource;
      if ("text" in resource) {
        return `[${uri}]\n${resource.text}`;
      }
      const [kind] = mimeType.split("/");
      return kind === "image" || kind === "audio"
        ? addMedia({ type: kind, mediaType: mimeType, data: resource.blob }, media)
        : `[${uri}: ${mimeType}, ${Buffer.byteLength(resource.blob, "base64")} bytes, left out]`;
    }
    case "resource_link":
      return `[${block.name}: ${block.uri}${block.mimeType === undefined ? "" : `, ${block.mimeType}`}]`;
    default:
      return "[content of an unknown type, left out]";
  }
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
