// What was said with an event, as the conversation's history and the event's record keep it.

import type { AgentInput } from "#gen/runnel/v1/event_pb.js";
import { memberOf, parseFreeObject } from "../base/json/free.ts";
import { compactJson } from "../base/json/text.ts";

/** The text of the input: its own, or that of its text parts. Empty where there is none. */
export function inputText(input: AgentInput | undefined): string {
  return input?.text ?? (input?.contents ?? []).map(partText).join("");
}

/** The message as a JSON object; undefined when nothing was said. Its parts stay as they were written. */
export function inputMessage(input: AgentInput | undefined): string | undefined {
  if (input === undefined || (!input.text && input.contents.length === 0)) {
    return undefined;
  }
  const content = input.contents.length === 0 ? JSON.stringify(input.text) : listOf(input.contents);
  const attachments = input.attachments.length === 0 ? "" : `,"attachments":${listOf(input.attachments)}`;
  return `{"role":"user","content":${content}${attachments}}`;
}

/** The first characters of a text: never half of one. */
export function firstCharacters(text: string, max: number): string {
  // A character takes two units at most.
  return text.length <= max
    ? text
    : Array.from(text.slice(0, 2 * max))
        .slice(0, max)
        .join("");
}

function listOf(objects: readonly string[]): string {
  return `[${objects.map((json) => compactJson(json, parseFreeObject(json))).join(",")}]`;
}

function partText(json: string): string {
  const part = parseFreeObject(json);
  const type = memberOf(part, "type");
  const text = memberOf(part, "text");
  return type?.kind === "string" && type.value === "text" && text?.kind === "string" ? text.value : "";
}
