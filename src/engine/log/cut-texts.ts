// Cuts the texts of entries that repeat earlier ones, for a reader that asks for their beginning alone.

import { toBinary } from "@bufbuild/protobuf";
import type { Message } from "#gen/runnel/v1/message_pb.js";
import { type RunResult, RunResultSchema } from "#gen/runnel/v1/result_pb.js";
import { countCharacters, firstCharacters } from "../../platform/base/first-characters.ts";
import { LogEntry } from "./result.ts";

/** Returns the entries with so many characters of such a text. The array stays the same when no text is longer: readers share it. */
export function cutTexts(entries: readonly LogEntry[], charsMax: number): readonly LogEntry[] {
  // A text has at least one byte for each character.
  const isShort = ({ bytes }: LogEntry): boolean => bytes.length <= charsMax;
  return entries.every(isShort)
    ? entries
    : entries.map((entry) => (isShort(entry) ? entry : cutEntry(entry, charsMax)));
}

function cutEntry(entry: LogEntry, charsMax: number): LogEntry {
  const { sequence, terminal, payloadCase, result } = entry;
  let charsLeftOut = 0;
  const payload = mapTexts(result.payload, (text) => {
    const first = firstCharacters(text, charsMax);
    charsLeftOut += countCharacters(text.slice(first.length));
    return first;
  });
  return charsLeftOut === 0
    ? entry
    : new LogEntry(
        { sequence, terminal, payloadCase },
        toBinary(RunResultSchema, { ...result, payload, charsLeftOut }),
      );
}

/** Returns the payload with other texts in place of those that repeat earlier entries. */
function mapTexts(payload: RunResult["payload"], map: (text: string) => string): RunResult["payload"] {
  switch (payload.case) {
    case "messageCompleted": {
      const { message } = payload.value;
      return message === undefined
        ? payload
        : { case: payload.case, value: { ...payload.value, message: mapMessage(message, map) } };
    }
    case "runCompleted": {
      const { message, output } = payload.value;
      const value = { ...payload.value, output: map(output) };
      return {
        case: payload.case,
        value: message === undefined ? value : { ...value, message: mapMessage(message, map) },
      };
    }
    case "runFailed":
      return { case: payload.case, value: { ...payload.value, output: map(payload.value.output) } };
    default:
      return payload;
  }
}

function mapMessage(message: Message, map: (text: string) => string): Message {
  const { content } = message;
  switch (content.case) {
    case "text":
      return { ...message, content: { case: content.case, value: map(content.value) } };
    case "parts": {
      const elements = content.value.elements.map((each) =>
        each.text === undefined ? each : { ...each, text: map(each.text) },
      );
      return { ...message, content: { case: content.case, value: { ...content.value, elements } } };
    }
    default:
      return message;
  }
}
