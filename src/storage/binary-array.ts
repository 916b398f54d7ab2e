// Postgres' binary form of one-dimensional arrays without nulls. pg sends a Buffer as a binary parameter, and arrays
// sent so cost about half the processor time of their text form.

import { uuidBytes } from "../base/ids.ts";

const oid = { uuid: 2950, int8: 20, int4: 23, bytea: 17 } as const;
/** dimensions, has nulls, element type, length, lower bound: 4 bytes each. */
const headerBytes = 20;

export function uuidArray(values: readonly string[]): Buffer {
  return fixedArray(oid.uuid, values, 16, (array, value, offset) => uuidBytes(value).copy(array, offset));
}

export function int8Array(values: readonly number[]): Buffer {
  return fixedArray(oid.int8, values, 8, (array, value, offset) => array.writeBigInt64BE(BigInt(value), offset));
}

export function int4Array(values: readonly number[]): Buffer {
  return fixedArray(oid.int4, values, 4, (array, value, offset) => array.writeInt32BE(value, offset));
}

export function byteaArray(values: readonly Uint8Array[]): Buffer {
  const array = allocate(
    oid.bytea,
    values.length,
    values.reduce((sum, value) => sum + 4 + value.length, 0),
  );
  let offset = headerBytes;
  for (const value of values) {
    array.writeInt32BE(value.length, offset);
    array.set(value, offset + 4);
    offset += 4 + value.length;
  }
  return array;
}

function fixedArray<T>(
  elementOid: number,
  values: readonly T[],
  size: number,
  write: (array: Buffer, value: T, offset: number) => void,
): Buffer {
  const array = allocate(elementOid, values.length, values.length * (4 + size));
  values.forEach((value, index) => {
    const offset = headerBytes + index * (4 + size);
    array.writeInt32BE(size, offset);
    write(array, value, offset + 4);
  });
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
