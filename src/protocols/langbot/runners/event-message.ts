// The message of an event, as the transcript and the event's record keep it: its images and files are artifacts.

import type { AgentInput } from "#gen/runnel/runner/v1/event_pb.js";
import { parseFreeObject, textMember } from "../../../platform/base/json/free.ts";
import { type InlineMedia, MediaTaker } from "./inline-media.ts";

/** Returns the text of the input: its own text, or that of its text parts. Empty when it has no text. */
export function inputText(input: AgentInput | undefined): string {
  return input?.text ?? (input?.contents ?? []).map(partText).join("");
}

/** The message of an event. */
export interface EventMessage {
  /** A JSON object. Its parts stay as they were written, except for their data. */
  readonly json: string;
  /** The media that the parts refer to. */
  readonly media: readonly InlineMedia[];
}

/** Returns undefined for an input without content. Throws Fault INVALID_ARGUMENT for data that is not base64. */
export function inputMessage(input: AgentInput | undefined, newId: () => string): EventMessage | undefined {
  if (input === undefined || (!input.text && input.contents.length + input.attachments.length === 0)) {
    return undefined;
  }
  const taker = new MediaTaker({ newId, source: "event" });
  const contents = input.contents.map((json, index) =>
    taker.takeElement(json, { field: `event.input.contents[${index}]` }),
  );
  const attachments = input.attachments.map((json, index) =>
    taker.takeElement(json, { field: `event.input.attachments[${index}]`, isAttachment: true }),
  );
  const text = input.text ?? "";
  // Some clients send their text beside the parts, and some in both places.
  const isTextMissing = text !== "" && input.contents.every((json) => partText(json) === "");
  const parts = isTextMissing ? [`{"type":"text","text":${JSON.stringify(text)}}`, ...contents] : contents;
  const content = contents.length === 0 ? JSON.stringify(text) : `[${parts.join(",")}]`;
  const attached = attachments.length === 0 ? "" : `,"attachments":[${attachments.join(",")}]`;
  return { json: `{"role":"user","content":${content}${attached}}`, media: taker.media };
}

function partText(json: string): string {
  const part = parseFreeObject(json);
  return textMember(part, "type") === "text" ? (textMember(part, "text") ?? "") : "";
}
