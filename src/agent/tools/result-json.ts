// The result of a call as JSON, for the log and for runners.

import type { ToolResult } from "./tool.ts";

/** Returns the result. Lone surrogates, which a client's host may send, are replaced: they are invalid text. */
export function printResult({ content, media, structured }: ToolResult): string {
  return JSON.stringify({
    content: content.toWellFormed(),
    ...(media !== undefined && {
      media: media.map(({ type, mediaType, data }) => ({ type, mime_type: mediaType, data })),
    }),
    ...(structured !== undefined && { structured_content: structured }),
  });
}
