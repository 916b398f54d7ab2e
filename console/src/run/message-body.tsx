// The parts of a message that a run was started with: its texts, its images, and a description of all else.

import { lazy, Suspense } from "react";
import type { ContentElement, Message } from "#gen/runnel/v1/message_pb.js";
import { describePart, textOf } from "../../../src/platform/run-view/transcript.ts";
import { Markdown } from "../ui/markdown.tsx";
import { Loading } from "../ui/notice.tsx";

/** Most messages have none. */
const Picture = lazy(async () => ({ default: (await import("../ui/picture.tsx")).Picture }));

export function MessageBody({ message }: { readonly message: Message | undefined }) {
  return message?.content.case === "parts" ? (
    message.content.value.elements.map((part, index) => <Part key={index} part={part} />)
  ) : (
    <Markdown text={textOf(message)} />
  );
}

function Part({ part }: { readonly part: ContentElement }) {
  return part.imageBase64 === undefined ? (
    <Markdown text={describePart(part)} />
  ) : (
    <Suspense fallback={<Loading what="the image" />}>
      <Picture base64={part.imageBase64} name={part.fileName ?? ""} />
    </Suspense>
  );
}
