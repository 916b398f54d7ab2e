// Encodes one-dimensional arrays in Postgres' binary format. pg sends a Buffer as a binary parameter. This costs about half the
// processor time of the arrays' text format. In arrays of uuids, texts and bytes, undefined is null.

import { uuidBytes } from "../base/ids.ts";

const oid = { uuid: 2950, int8: 20, int4: 23, bytea: 17, text: 25 } as const;
/** The length of the array header: dimensions, has nulls, element type, length, lower bound; 4 bytes each. */
const headerBytes = 20;
/** The length that marks a null. */
const nullLength = -1;

/** A value that occurs `count` times in a row. */
export interface Repeated<T> {
  readonly value: T;
  readonly count: number;
}

/** Encodes a uuid[]. */
export function uuidArray(values: readonly (string | undefined)[]): Buffer {
  return bytesArray(
    oid.uuid,
    values.map((value) => (value === undefined ? undefined : uuidBytes(value))),
  );
}

/** Encodes a uuid[] with repeated values. */
export function repeatedUuidArray(values: readonly Repeated<string>[]): Buffer {
  return repeatedArray(oid.uuid, values, 16, writeUuid);
}

/** Encodes a bigint[]. */
export function int8Array(values: readonly number[]): Buffer {
  return fixedArray(oid.int8, values, 8, writeInt8);
}

/** Encodes an integer[]. */
export function int4Array(values: readonly number[]): Buffer {
  return fixedArray(oid.int4, values, 4, writeInt4);
}

/** Encodes an integer[] with repeated values. */
export function repeatedInt4Array(values: readonly Repeated<number>[]): Buffer {
  return repeatedArray(oid.int4, values, 4, writeInt4);
}

/** Encodes a bytea[]. */
export function byteaArray(values: readonly (Uint8Array | undefined)[]): Buffer {
  return bytesArray(oid.bytea, values);
}

/** Encodes a text[]. */
export function textArray(values: readonly (string | undefined)[]): Buffer {
  return bytesArray(
    oid.text,
    values.map((value) => (value === undefined ? undefined : Buffer.from(value))),
  );
}

function bytesArray(elementOid: number, values: readonly (Uint8Array | undefined)[]): Buffer {
  const array = allocate(
    elementOid,
    values.length,
    values.reduce((sum, value) => sum + 4 + (value?.length ?? 0), 0),
  );
  let offset = headerBytes;
  for (const value of values) {
    array.writeInt32BE(value?.length ?? nullLength, offset);
    array.set(value ?? [], offset + 4);
    offset += 4 + (value?.length ?? 0);
  }
  return array;
}

type Write<T> = (array: Buffer, value: T, offset: number) => void;

function writeUuid(array: Buffer, value: string, offset: number): void {
  uuidBytes(value).copy(array, offset);
}

/** Writes two halves: writing 64 bits at once needs a BigInt. */
function writeInt8(array: Buffer, value: number, offset: number): void {
  array.writeInt32BE(Math.floor(value / 2 ** 32), offset);
  array.writeUInt32BE(value >>> 0, offset + 4);
}

function writeInt4(array: Buffer, value: number, offset: number): void {
  array.writeInt32BE(value, offset);
}

function fixedArray<T>(elementOid: number, values: readonly T[], size: number, write: Write<T>): Buffer {
  const array = allocate(elementOid, values.length, values.length * (4 + size));
  let offset = headerBytes;
  for (const value of values) {
    array.writeInt32BE(size, offset);
    write(array, value, offset + 4);
    offset += 4 + size;
  }
  return array;
}

function repeatedArray<T>(elementOid: number, values: readonly Repeated<T>[], size: number, write: Write<T>): Buffer {
  const length = values.reduce((sum, { count }) => sum + count, 0);
  const array = allocate(elementOid, length, length * (4 + size));
  let offset = headerBytes;
  for (const { value, count } of values.filter((each) => each.count > 0)) {
    const next = offset + 4 + size;
    array.writeInt32BE(size, offset);
    write(array, value, offset + 4);
    const end = offset + count * (4 + size);
    array.fill(array.subarray(offset, next), next, end);
    offset = end;
  }
  return array;
}

function allocate(elementOid: number, length: number, bodyBytes: number): Buffer {
  const array = Buffer.allocUnsafe(headerBytes + bodyBytes);
  array.writeInt32BE(1, 0);
  array.writeInt32BE(0, 4);
  array.writeInt32BE(elementOid, 8);
  array.writeInt32BE(length, 12);
  array.writeInt32BE(1, 16);
  return array;
}
