// Converts the text of a path, a query or a JSON token to a scalar, an enum or a message with a text form. All three share one
// parser. Pure; an invalid text gives undefined, and `describeExpected` describes a valid one.

import { type DescEnum, type DescField, ScalarType } from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import { base64Decode } from "@bufbuild/protobuf/wire";
import { enumShape } from "./shape.ts";
import { findTextForm } from "./text-form.ts";

/**
 * Reads one value of the field, or one item of a list. Returns a value for the reflection API, or undefined for an invalid
 * text.
 */
export function readValueText(field: DescField, text: string): unknown {
  if (field.enum !== undefined) {
    return readEnumText(field.enum, text);
  }
  if (field.scalar !== undefined) {
    return readScalarText(field.scalar, text);
  }
  const message = findTextForm(field.message)?.parse(text);
  return field.message && message && reflect(field.message, message);
}

/** Returns true when a text can hold one value of the field (or one item): not for maps, nor for messages that are objects. */
export function isTextValue(field: DescField): boolean {
  return field.fieldKind !== "map" && (field.message === undefined || findTextForm(field.message) !== undefined);
}

/** Describes a valid value of the field, for messages: `expected …`. */
export function describeExpected(field: DescField): string {
  if (field.enum !== undefined) {
    const words = [...enumShape(field.enum).texts.values()].slice(0, enumWordsMax);
    return `one of ${words.join(", ")}`;
  }
  if (field.scalar !== undefined) {
    return scalarDescriptions[field.scalar];
  }
  return findTextForm(field.message)?.expected ?? "an object";
}

/** The maximum number of enum names in an error message. */
const enumWordsMax = 12;

/** The maximum length of a number. No field needs more; BigInt takes quadratic time, so it must not parse a long text. */
const numberCharsMax = 400;

const integerPattern = /^-?(?:0|[1-9]\d*)$/;
const numberPattern = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const base64Pattern = /^[A-Za-z0-9+/_-]*={0,2}$/;

const scalarDescriptions: Record<ScalarType, string> = {
  [ScalarType.DOUBLE]: "a number",
  [ScalarType.FLOAT]: "a number",
  [ScalarType.INT32]: "a 32-bit integer",
  [ScalarType.SINT32]: "a 32-bit integer",
  [ScalarType.SFIXED32]: "a 32-bit integer",
  [ScalarType.UINT32]: "a 32-bit integer that is not negative",
  [ScalarType.FIXED32]: "a 32-bit integer that is not negative",
  [ScalarType.INT64]: "a 64-bit integer",
  [ScalarType.SINT64]: "a 64-bit integer",
  [ScalarType.SFIXED64]: "a 64-bit integer",
  [ScalarType.UINT64]: "a 64-bit integer that is not negative",
  [ScalarType.FIXED64]: "a 64-bit integer that is not negative",
  [ScalarType.BOOL]: "true or false",
  [ScalarType.STRING]: "a string",
  [ScalarType.BYTES]: "a base64 string",
};

function readEnumText(desc: DescEnum, text: string): number | undefined {
  const named = enumShape(desc).numbers.get(text);
  if (named !== undefined) {
    return named;
  }
  const number = readInteger(text, -(2n ** 31n), 2n ** 31n - 1n);
  const known = number !== undefined && (desc.open || desc.value[Number(number)] !== undefined);
  return known ? Number(number) : undefined;
}

function readScalarText(type: ScalarType, text: string): unknown {
  switch (type) {
    case ScalarType.STRING:
      return text.toWellFormed();
    case ScalarType.BOOL:
      return text === "true" ? true : text === "false" ? false : undefined;
    case ScalarType.BYTES:
      return readBase64(text);
    case ScalarType.DOUBLE:
      return readNumber(text, Number.MAX_VALUE);
    case ScalarType.FLOAT:
      return readNumber(text, float32Max);
    case ScalarType.INT32:
    case ScalarType.SINT32:
    case ScalarType.SFIXED32:
      return toNumber(readInteger(text, -(2n ** 31n), 2n ** 31n - 1n));
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return toNumber(readInteger(text, 0n, 2n ** 32n - 1n));
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
      return readInteger(text, -(2n ** 63n), 2n ** 63n - 1n);
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return readInteger(text, 0n, 2n ** 64n - 1n);
    default:
      return type satisfies never;
  }
}

const float32Max = 2 ** 128 - 2 ** 104;

function readInteger(text: string, min: bigint, max: bigint): bigint | undefined {
  if (text.length > numberCharsMax || !numberPattern.test(text)) {
    return undefined;
  }
  if (!integerPattern.test(text) && !Number.isSafeInteger(Number(text))) {
    return undefined;
  }
  // `1e3` and `2.0` are integers too. Beyond 2^53, only plain digits are exact.
  const value = integerPattern.test(text) ? BigInt(text) : BigInt(Number(text));
  return value >= min && value <= max ? value : undefined;
}

function toNumber(value: bigint | undefined): number | undefined {
  return value === undefined ? undefined : Number(value);
}

function readNumber(text: string, magnitudeMax: number): number | undefined {
  if (text === "NaN" || text === "Infinity" || text === "-Infinity") {
    return Number(text);
  }
  if (text.length > numberCharsMax || !numberPattern.test(text)) {
    return undefined;
  }
  const value = Number(text);
  return Math.abs(value) <= magnitudeMax ? value : undefined;
}

function readBase64(text: string): Uint8Array | undefined {
  if (!base64Pattern.test(text)) {
    return undefined;
  }
  const digits = text.replace(/={1,2}$/, "");
  return digits.length % 4 === 1 ? undefined : base64Decode(digits);
}
