// Counts the values of a protobuf message in its bytes, before anything is built from them: two bytes can become an object of a
// hundred.

import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { jsonValuesMax } from "./json/text.ts";

/** That of JSON, so that every encoding of a request has the same limit. */
const messageValuesMax = jsonValuesMax;

/** The values between two steps: about a millisecond. */
const stepValues = 16_384;

/** A message with more values than the limit. The message is for the author. */
export class MessageValuesError extends Error {
  override readonly name = "MessageValuesError";
}

/**
 * Scans a message in steps and returns the number of its values: fields, known or not, and the items of packed lists. Throws
 * MessageValuesError beyond the limit. Stops without an error at bytes that are not a message: their parser reports them.
 */
export function* scanMessage(desc: DescMessage, bytes: Uint8Array): Generator<void, number> {
  const count: Count = { values: 0, stepEnd: stepValues };
  try {
    yield* scanFields(desc, new BinaryReader(bytes), bytes.length, count);
  } catch (error) {
    if (error instanceof MessageValuesError) {
      throw error;
    }
  }
  return count.values;
}

interface Count {
  values: number;
  stepEnd: number;
}

function* scanFields(desc: DescMessage, reader: BinaryReader, end: number, count: Count): Generator<void, void> {
  const fields = fieldsOf(desc);
  while (reader.pos < end) {
    add(count, 1);
    if (count.values >= count.stepEnd) {
      count.stepEnd += stepValues;
      yield;
    }
    const [number, wireType] = reader.tag();
    const field = fields.get(number);
    if (field === undefined || wireType !== WireType.LengthDelimited) {
      reader.skip(wireType, number);
    } else if (field === "packed") {
      const bytes = reader.bytes();
      add(count, countVarints(bytes));
    } else {
      // The parser's recursion limit bounds the depth: a deeper message is invalid.
      const length = reader.uint32();
      yield* scanFields(field, reader, Math.min(reader.pos + length, end), count);
    }
  }
}

function add(count: Count, values: number): void {
  count.values += values;
  if (count.values > messageValuesMax) {
    throw new MessageValuesError(`more than ${messageValuesMax} values`);
  }
}

/** Each item has one last byte without the continuation bit. Items of fixed size count as their bytes, at most eight times. */
function countVarints(bytes: Uint8Array): number {
  let count = 0;
  for (const byte of bytes) {
    count += byte < 0x80 ? 1 : 0;
  }
  return count;
}

/** The fields whose bytes hold further values: messages, and lists of numbers. */
type Nested = ReadonlyMap<number, DescMessage | "packed">;

const cache = new WeakMap<DescMessage, Nested>();

function fieldsOf(desc: DescMessage): Nested {
  let fields = cache.get(desc);
  if (fields === undefined) {
    fields = new Map(desc.fields.flatMap((field) => readNested(field) ?? []));
    cache.set(desc, fields);
  }
  return fields;
}

function readNested(field: DescField): [[number, DescMessage | "packed"]] | undefined {
  if (field.fieldKind === "map") {
    // The contract has no maps; the entries of a map would each count as one value.
    return undefined;
  }
  if (field.message !== undefined) {
    return [[field.number, field.message]];
  }
  const isPackable =
    field.fieldKind === "list" && field.scalar !== ScalarType.STRING && field.scalar !== ScalarType.BYTES;
  return isPackable ? [[field.number, "packed"]] : undefined;
}
