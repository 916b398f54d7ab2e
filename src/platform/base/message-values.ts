// Counts the values of a protobuf message in its bytes, before anything is built from them: two bytes can become an object of a
// hundred.
//
// protobuf-es ignores the wire type of a known field: it reads the type that the contract gives. It also reads on where a nested
// message or a packed list ends in the middle of a value. The bytes would then have other values than a scan finds. So the scan
// refuses them.

import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { jsonDepthMax, jsonValuesMax } from "./json/text.ts";

/** Those of JSON, so that every encoding of a request has the same limits. The parser has this depth as its recursion limit. */
const [valuesMax, depthMax] = [jsonValuesMax, jsonDepthMax];

/** The values between two steps: about a millisecond. */
const stepValues = 16_384;

/** The bytes are not a message, or exceed a limit. The error's text is for the author. */
export class MessageBytesError extends Error {
  override readonly name = "MessageBytesError";
}

/**
 * Scans a message in steps and returns the number of its values: fields, known or not, and the items of packed lists. Throws
 * MessageBytesError for bytes that are not a message, or exceed a limit.
 */
export function* scanMessage(desc: DescMessage, bytes: Uint8Array): Generator<void, number> {
  const scan: Scan = { reader: new BinaryReader(bytes), values: 0, stepEnd: stepValues };
  try {
    yield* scanFields(scan, fieldsOf(desc), bytes.length, 1);
  } catch (error) {
    // The reader throws plain errors, such as "premature EOF".
    throw error instanceof Error ? new MessageBytesError(error.message, { cause: error }) : error;
  }
  return scan.values;
}

interface Scan {
  readonly reader: BinaryReader;
  values: number;
  stepEnd: number;
}

function* scanFields(scan: Scan, fields: Fields, end: number, depth: number): Generator<void, void> {
  const { reader } = scan;
  if (depth > depthMax) {
    throw new MessageBytesError(`nested deeper than ${depthMax} levels`);
  }
  while (reader.pos < end) {
    add(scan, 1);
    if (scan.values >= scan.stepEnd) {
      scan.stepEnd += stepValues;
      yield;
    }
    const [number, wireType] = reader.tag();
    const field = fields.get(number);
    const isPacked = field?.isPackable === true && wireType === WireType.LengthDelimited;
    if (field !== undefined && wireType !== field.wireType && !isPacked) {
      throw new MessageBytesError(`the field ${field.name} has the wire type of another type`);
    }
    if (field !== undefined && isPacked) {
      add(scan, countItems(field, reader.bytes()));
    } else if (field?.fields !== undefined) {
      const length = reader.uint32();
      const fieldEnd = reader.pos + length;
      assertWithin(fieldEnd, end);
      yield* scanFields(scan, field.fields(), fieldEnd, depth + 1);
    } else {
      reader.skip(wireType, number);
    }
    assertWithin(reader.pos, end);
  }
}

function assertWithin(at: number, end: number): void {
  if (at > end) {
    throw new MessageBytesError("a field is longer than its message");
  }
}

function add(scan: Scan, values: number): void {
  scan.values += values;
  if (scan.values > valuesMax) {
    throw new MessageBytesError(`more than ${valuesMax} values`);
  }
}

function countItems({ name, wireType }: Field, bytes: Uint8Array): number {
  const size = itemBytes.get(wireType);
  // The last byte of a number of variable size has no continuation bit.
  const isWhole = size === undefined ? (bytes.at(-1) ?? 0) < 0x80 : bytes.length % size === 0;
  if (!isWhole) {
    throw new MessageBytesError(`the list ${name} ends in the middle of an item`);
  }
  return size === undefined ? countVarints(bytes) : bytes.length / size;
}

function countVarints(bytes: Uint8Array): number {
  let count = 0;
  for (const byte of bytes) {
    count += byte < 0x80 ? 1 : 0;
  }
  return count;
}

const itemBytes: ReadonlyMap<WireType, number> = new Map([
  [WireType.Bit32, 4],
  [WireType.Bit64, 8],
]);

/** The fields of a message by their numbers. */
type Fields = ReadonlyMap<number, Field>;

/** How the parser reads a field. */
interface Field {
  readonly name: string;
  /** The wire type of one value. */
  readonly wireType: WireType;
  /** Whether one field may hold many values. */
  readonly isPackable: boolean;
  /** The fields of a nested message. */
  readonly fields: (() => Fields) | undefined;
}

const cache = new WeakMap<DescMessage, Fields>();

function fieldsOf(desc: DescMessage): Fields {
  let fields = cache.get(desc);
  if (fields === undefined) {
    fields = new Map(desc.fields.map((field) => [field.number, describeField(field)]));
    cache.set(desc, fields);
  }
  return fields;
}

function describeField(field: DescField): Field {
  const { name, message } = field;
  if (field.fieldKind === "map") {
    const key = describe(name, field.mapKey, undefined);
    const entry: Fields = new Map([
      [1, key],
      [2, describe(name, field.scalar, message)],
    ]);
    return { name, wireType: WireType.LengthDelimited, isPackable: false, fields: () => entry };
  }
  const one = describe(name, field.scalar, message);
  return { ...one, isPackable: field.fieldKind === "list" && one.wireType !== WireType.LengthDelimited };
}

/** Describes a single value: a message, a scalar, or else an enum. */
function describe(name: string, scalar: ScalarType | undefined, message: DescMessage | undefined): Field {
  return message === undefined
    ? { name, wireType: wireTypes.get(scalar) ?? WireType.Varint, isPackable: false, fields: undefined }
    : { name, wireType: WireType.LengthDelimited, isPackable: false, fields: () => fieldsOf(message) };
}

/** Those of all other scalars, and of enums, are Varint. */
const wireTypes: ReadonlyMap<ScalarType | undefined, WireType> = new Map([
  [ScalarType.STRING, WireType.LengthDelimited],
  [ScalarType.BYTES, WireType.LengthDelimited],
  [ScalarType.FIXED32, WireType.Bit32],
  [ScalarType.SFIXED32, WireType.Bit32],
  [ScalarType.FLOAT, WireType.Bit32],
  [ScalarType.FIXED64, WireType.Bit64],
  [ScalarType.SFIXED64, WireType.Bit64],
  [ScalarType.DOUBLE, WireType.Bit64],
]);
