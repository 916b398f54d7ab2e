// Random messages of any type, for properties that hold for all of them. They contain only what JSON can express: text is well
// formed, raw JSON is JSON, and a time has only the digits that are printed.

import { create, type DescField, type DescMessage, getOption, type Message, ScalarType } from "@bufbuild/protobuf";
import { type ReflectMessage, reflect } from "@bufbuild/protobuf/reflect";
import { TimestampSchema } from "@bufbuild/protobuf/wkt";
import {
  type Arbitrary,
  array,
  bigInt,
  boolean,
  constantFrom,
  double,
  float,
  integer,
  record,
  string,
  tuple,
  uint8Array,
} from "fast-check";
import { json } from "#gen/runnel/options/v1/options_pb.js";
import { anyJson } from "../harness/json-value.ts";

/** Half of the fields are set. Nesting ends after a few levels. */
export function arbitraryMessage(desc: DescMessage): Arbitrary<Message> {
  return reflectMessages(desc, depthMax).map(({ message }) => message);
}

/** Returns one value of a scalar, enum or timestamp field, as the reflection API takes it. */
export function arbitraryValue(field: DescField): Arbitrary<unknown> {
  if (field.enum !== undefined) {
    return constantFrom(...field.enum.values.map(({ number }) => number));
  }
  const { raw, sortKeys, millis } = getOption(field, json);
  if (field.scalar === undefined) {
    return timestamps(millis);
  }
  if (raw) {
    return anyJson().map((value) => (sortKeys ? printSorted(value) : JSON.stringify(value)));
  }
  return scalars[field.scalar]();
}

/** Sorts by hand, because a JavaScript object orders keys that look like numbers in its own way. */
function printSorted(value: unknown): string {
  if (Array.isArray(value)) {
    return `[${value.map(printSorted).join(",")}]`;
  }
  if (typeof value !== "object" || value === null) {
    return JSON.stringify(value);
  }
  const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${printSorted(member)}`).join(",")}}`;
}

const depthMax = 3;
const itemsMax = 3;

function reflectMessages(desc: DescMessage, depthLeft: number): Arbitrary<ReflectMessage> {
  if (desc.typeName === TimestampSchema.typeName) {
    return timestamps(false);
  }
  const fields = desc.fields.filter((field) => depthLeft > 0 || isTextual(field));
  return tuple(...fields.map((field) => tuple(boolean(), fieldValues(field, depthLeft)))).map((choices) => {
    const message = reflect(desc);
    for (const [index, [isSet, value]] of choices.entries()) {
      const field = fields[index];
      if (field !== undefined && (isSet || mustBeSet(field))) {
        setField(message, field, value);
      }
    }
    return message;
  });
}

function isTextual(field: DescField): boolean {
  return field.message === undefined || field.message.typeName === TimestampSchema.typeName;
}

/** An unset field of this kind prints as a value that parses as set: an empty raw text is `null`, which is JSON too. */
function mustBeSet(field: DescField): boolean {
  const { raw, emitEmpty, nullWhenUnset } = getOption(field, json);
  return (raw && field.fieldKind !== "list" && (emitEmpty || nullWhenUnset)) || false;
}

function setField(message: ReflectMessage, field: DescField, value: unknown): void {
  if (field.fieldKind !== "list") {
    message.set(field, value);
    return;
  }
  for (const item of value as unknown[]) {
    message.get(field).add(item);
  }
}

function fieldValues(field: DescField, depthLeft: number): Arbitrary<unknown> {
  const single = isTextual(field) ? arbitraryValue(field) : reflectMessages(messageOf(field), depthLeft - 1);
  return field.fieldKind === "list" ? array<unknown>(single, { maxLength: itemsMax }) : single;
}

function messageOf(field: DescField): DescMessage {
  if (field.message === undefined) {
    throw new Error(`${field.toString()} is no message`);
  }
  return field.message;
}

/** The years 1 to 9999. */
function timestamps(millis: boolean): Arbitrary<ReflectMessage> {
  const nanos = millis
    ? integer({ min: 0, max: 999 }).map((milliseconds) => milliseconds * 1_000_000)
    : integer({ min: 0, max: 999_999_999 });
  const seconds = bigInt({ min: -62_135_596_800n, max: 253_402_300_799n });
  return record({ seconds, nanos }).map((time) => reflect(TimestampSchema, create(TimestampSchema, time)));
}

const int32 = () => integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
const uint32 = () => integer({ min: 0, max: 2 ** 32 - 1 });
const int64 = () => bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const uint64 = () => bigInt({ min: 0n, max: 2n ** 64n - 1n });

const scalars: Record<ScalarType, () => Arbitrary<unknown>> = {
  [ScalarType.DOUBLE]: () => double(),
  [ScalarType.FLOAT]: () => float(),
  [ScalarType.INT32]: int32,
  [ScalarType.SINT32]: int32,
  [ScalarType.SFIXED32]: int32,
  [ScalarType.UINT32]: uint32,
  [ScalarType.FIXED32]: uint32,
  [ScalarType.INT64]: int64,
  [ScalarType.SINT64]: int64,
  [ScalarType.SFIXED64]: int64,
  [ScalarType.UINT64]: uint64,
  [ScalarType.FIXED64]: uint64,
  [ScalarType.BOOL]: () => boolean(),
  [ScalarType.STRING]: () => string({ unit: "binary" }),
  [ScalarType.BYTES]: () => uint8Array({ maxLength: 20 }),
};
