// The sources of a message as annotations of its text.

import type { Message } from "#gen/runnel/v1/message_pb.js";
import { textOf } from "../in-process/message-text.ts";

/** Returns the sources with a URL, as annotations of a response. A source without a place belongs to the whole text. */
export function annotationsOf(message: Message | undefined): readonly object[] {
  const { length } = textOf(message);
  return (message?.citations ?? [])
    .filter(({ url }) => url !== "")
    .map(({ url, title, start = 0, end = length }) => {
      return { type: "url_citation", url, title, start_index: start, end_index: end };
    });
}

/** Returns the same as annotations of a chat completion. */
export function chatAnnotationsOf(message: Message | undefined): readonly object[] {
  return annotationsOf(message).map((annotation) => {
    const { type, ...url_citation } = annotation as { readonly type: string };
    return { type, url_citation };
  });
}
