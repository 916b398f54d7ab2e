// Cuts the text of a result that repeats earlier ones, in its bytes: a text may have megabytes, and the beginning of the result tells
// where its text ends.

import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { MessageSchema } from "#gen/runnel/v1/message_pb.js";
import {
  MessageCompletedSchema,
  RunCompletedSchema,
  RunFailedSchema,
  RunResultSchema,
} from "#gen/runnel/v1/result_pb.js";
import { firstCharacters } from "../../platform/base/first-characters.ts";
import { LogEntry } from "./result.ts";

/** The fields with such a text, and those on the way to it. */
const repeating: ReadonlySet<DescField> = new Set<DescField>([
  RunResultSchema.field.messageCompleted,
  RunResultSchema.field.runCompleted,
  RunResultSchema.field.runFailed,
  MessageCompletedSchema.field.message,
  RunCompletedSchema.field.message,
  RunCompletedSchema.field.output,
  RunFailedSchema.field.output,
  MessageSchema.field.text,
]);

/** A result with a shorter text, but for its bytes behind the text. */
export interface CutText {
  /** Where the rest begins in the whole result. */
  readonly restFrom: number;
  /** Returns the result. `bytes_left_out` counts what its text lacks. */
  readonly join: (rest: Uint8Array) => Uint8Array;
}

/** More than the fields before a text take. */
const beforeTextBytes = 16_384;

/** Returns how many bytes from the beginning of a result have so many characters of its text. */
export function headBytes(charsMax: number): number {
  return beforeTextBytes + 4 * charsMax;
}

/** Returns entries with so many characters of such a text. The array stays the same when no text is longer: readers share it. */
export function cutTexts(entries: readonly LogEntry[], charsMax: number): readonly LogEntry[] {
  // A text has at least one byte for each character.
  const isShort = ({ bytes }: LogEntry): boolean => bytes.length <= charsMax;
  return entries.every(isShort)
    ? entries
    : entries.map((entry) => (isShort(entry) ? entry : cutEntry(entry, charsMax)));
}

function cutEntry(entry: LogEntry, charsMax: number): LogEntry {
  const { bytes, sequence, terminal } = entry;
  const cut = cutText(bytes, charsMax);
  return cut === undefined ? entry : new LogEntry({ sequence, terminal }, cut.join(bytes.subarray(cut.restFrom)));
}

/** Cuts the text of a result by its beginning; undefined when there is no longer text, as far as the beginning tells. */
export function cutText(head: Uint8Array, charsMax: number): CutText | undefined {
  const path = findText(head);
  const text = path?.at(-1);
  if (path === undefined || text === undefined) {
    return undefined;
  }
  const available = head.subarray(text.from, text.from + text.length);
  // A decoder for a stream waits for the rest of a character.
  const kept = Buffer.from(firstCharacters(new TextDecoder().decode(available, { stream: true }), charsMax));
  const leftOut = text.length - kept.length;
  return leftOut === 0
    ? undefined
    : { restFrom: text.from + text.length, join: (rest) => join(head, path, kept, rest) };
}

/** The value of a field: where its length and its bytes begin, and how many they are. */
interface Value {
  readonly lengthFrom: number;
  readonly from: number;
  readonly length: number;
}

/** Returns the text and the messages around it, the outermost first. */
function findText(head: Uint8Array): readonly Value[] | undefined {
  const reader = new BinaryReader(head);
  const path: Value[] = [];
  let schema: DescMessage = RunResultSchema;
  try {
    while (reader.pos < reader.len) {
      const [number, type] = reader.tag();
      if (type !== WireType.LengthDelimited) {
        reader.skip(type);
        continue;
      }
      const lengthFrom = reader.pos;
      const length = reader.uint32();
      const field = schema.fields.find((each) => each.number === number);
      if (field === undefined || !repeating.has(field)) {
        reader.pos += length;
        continue;
      }
      path.push({ lengthFrom, from: reader.pos, length });
      if (field.message === undefined) {
        return path;
      }
      schema = field.message;
    }
  } catch {
    // The beginning ends within a tag or a length.
  }
  return undefined;
}

function join(head: Uint8Array, path: readonly Value[], kept: Uint8Array, rest: Uint8Array): Uint8Array {
  const parts: Uint8Array[] = [kept, rest];
  const text = path.at(-1);
  const leftOut = (text?.length ?? 0) - kept.length;
  let lost = leftOut;
  for (const [index, { lengthFrom, from, length }] of [...path.entries()].reverse()) {
    const prefix = new BinaryWriter().uint32(length - lost).finish();
    lost += from - lengthFrom - prefix.length;
    parts.unshift(head.subarray(path[index - 1]?.from ?? 0, lengthFrom), prefix);
  }
  const count = new BinaryWriter()
    .tag(RunResultSchema.field.bytesLeftOut.number, WireType.Varint)
    .int32(leftOut)
    .finish();
  return Buffer.concat([...parts, count]);
}
