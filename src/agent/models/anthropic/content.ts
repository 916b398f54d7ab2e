// Makes blocks of what users and tools sent.

import { sniffMediaType } from "../../../platform/base/media-type.ts";
import type { ModelContent, ModelMedia } from "../model.ts";
import type { ToolMessage } from "../wire/safe-id.ts";
import type { Block } from "./block.ts";

/** Returns the block of a part. */
export function contentBlock(part: ModelContent): Block {
  return "data" in part ? mediaBlock(part) : textBlock(part.text);
}

/** Returns a block of text. */
export function textBlock(text: string): Block {
  return { type: "text", text };
}

/** Returns whether a block is blank text, which the service refuses. */
export function isBlank({ type, text }: Block): boolean {
  return type === "text" && typeof text === "string" && text.trim() === "";
}

/** Returns the result of a call, which has this id in the request. */
export function resultBlock({ text, parts, isError }: ToolMessage, id: string): Block {
  const content = parts?.map(contentBlock).filter((block) => !isBlank(block));
  return {
    type: "tool_result",
    tool_use_id: id,
    content: content === undefined || content.length === 0 ? text : content,
    ...(isError === true && { is_error: true }),
  };
}

function mediaBlock({ type, name, mediaType, data }: ModelMedia): Block {
  const isUrl = data instanceof URL;
  const known = mediaType ?? (isUrl ? undefined : sniffMediaType(data));
  const source = isUrl
    ? { type: "url", url: data.href }
    : { type: "base64", media_type: known ?? "application/octet-stream", data: Buffer.from(data).toString("base64") };
  if (known === undefined ? type === "image" : known.startsWith("image/")) {
    return { type: "image", source };
  }
  return { type: "document", source, ...(name !== undefined && { title: name }) };
}
