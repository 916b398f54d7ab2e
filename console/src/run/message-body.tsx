// The parts of a message that a run was started with: its texts, its images and files, and a description of all else.

import { lazy, Suspense } from "react";
import type { ContentElement, Message } from "#gen/runnel/v1/message_pb.js";
import { describePart, textOf } from "../../../src/platform/run-view/entry.ts";
import { Markdown } from "../ui/markdown.tsx";
import { Loading } from "../ui/notice.tsx";

/** Most messages have none of these. */
const Attachment = lazy(async () => ({ default: (await import("../ui/attachment.tsx")).Attachment }));
const Sources = lazy(async () => ({ default: (await import("./sources.tsx")).Sources }));

export function MessageBody({ message }: { readonly message: Message | undefined }) {
  const citations = message?.citations ?? [];
  return (
    <>
      {message?.content.case === "parts" ? (
        message.content.value.elements.map((part, index) => <Part key={index} part={part} />)
      ) : (
        <Markdown text={textOf(message)} />
      )}
      {citations.length > 0 && (
        <Suspense fallback={<Loading what="the sources" />}>
          <Sources citations={citations} />
        </Suspense>
      )}
    </>
  );
}

function Part({ part }: { readonly part: ContentElement }) {
  const base64 = part.imageBase64 ?? part.fileBase64;
  return base64 === undefined ? (
    <Markdown text={describePart(part)} />
  ) : (
    <Suspense fallback={<Loading what="the file" />}>
      <Attachment base64={base64} name={part.fileName ?? ""} isImage={part.imageBase64 !== undefined} />
    </Suspense>
  );
}
