// Prints messages as REST JSON on one line, by descriptor. Keys are in field-number order, in snake_case unless the message
// says otherwise. 64-bit integers are numbers while they are exact; raw JSON is copied. Defaults are omitted unless an option
// asks for them.

import { type DescField, type DescMessage, type Message, ScalarType } from "@bufbuild/protobuf";
import { type ReflectMessage, reflect } from "@bufbuild/protobuf/reflect";
import { base64Encode } from "@bufbuild/protobuf/wire";
import type { RestProfile } from "#gen/runnel/options/v1/options_pb.js";
import { enumShape, type JsonFieldShape, jsonShape } from "./shape.ts";
import { compactJson, findJson } from "./text.ts";
import { findTextForm } from "./text-form.ts";

/** Prints a message: `{"run_id":"…","state":"running"}`. */
export function printMessage(desc: DescMessage, message: Message): string {
  return printNested(reflect(desc, message, false), undefined);
}

/** Prints one field of a message, even when it is empty. An unset message prints as `null`. */
export function printField(desc: DescMessage, message: Message, field: DescField): string {
  const reflected = reflect(desc, message, false);
  const shape = jsonShape(desc).byName.get(field.name);
  const isNull = field.fieldKind === "message" || shape?.nullWhenUnset === true;
  if (shape === undefined || (isNull && !reflected.isSet(field))) {
    return "null";
  }
  return printFieldValue(reflected, shape);
}

/**
 * Escapes JSON in the style of a service. With `goText` it escapes `<`, `>`, `&`, U+2028 and U+2029 as Go does, which makes it
 * safe in HTML and JavaScript. These characters occur only in strings, so one pass over the whole text is correct.
 */
export function styleJson(json: string, { goText }: Pick<RestProfile, "goText">): string {
  return goText && markupPattern.test(json) ? json.replaceAll(markupPatternAll, escapeCharacter) : json;
}

const markupPattern = /[<>&\u2028\u2029]/;
const markupPatternAll = /[<>&\u2028\u2029]/g;

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

const millisDigits = 3;

function printNested(message: ReflectMessage, timeDigits: number | undefined): string {
  const form = findTextForm(message.desc);
  if (form !== undefined) {
    return JSON.stringify(form.format(message.message, timeDigits));
  }
  const members: string[] = [];
  for (const shape of jsonShape(message.desc).fields) {
    const isSet = message.isSet(shape.field);
    if (!isSet && shape.nullWhenUnset) {
      members.push(`"${shape.key}":null`);
    } else if (isSet || shape.emitEmpty) {
      members.push(`"${shape.key}":${printFieldValue(message, shape)}`);
    }
  }
  return `{${members.join(",")}}`;
}

function printFieldValue(message: ReflectMessage, shape: JsonFieldShape): string {
  const { field } = shape;
  if (field.fieldKind !== "list") {
    return printValue(shape, message.get(field));
  }
  const items = [...message.get(field)].map((item) => printValue(shape, item));
  return `[${items.join(",")}]`;
}

function printValue(shape: JsonFieldShape, value: unknown): string {
  const { field, raw, millis } = shape;
  if (field.message !== undefined) {
    return printNested(value as ReflectMessage, millis ? millisDigits : undefined);
  }
  if (field.enum !== undefined) {
    const text = enumShape(field.enum).texts.get(value as number);
    return text === undefined ? String(value) : JSON.stringify(text);
  }
  return raw ? printRaw(shape, value as string) : printScalar(field.scalar, value);
}

function printScalar(type: ScalarType | undefined, value: unknown): string {
  if (typeof value === "bigint") {
    const exact = value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER;
    return exact ? value.toString() : `"${value}"`;
  }
  if (type === ScalarType.BYTES) {
    return `"${base64Encode(value as Uint8Array)}"`;
  }
  if (typeof value === "number") {
    return printNumber(value);
  }
  return JSON.stringify(value);
}

function printNumber(value: number): string {
  if (!Number.isFinite(value)) {
    // JSON has no numbers for NaN and the infinities; Protobuf's JSON writes them as strings.
    return `"${value}"`;
  }
  return Object.is(value, -0) ? "-0" : String(value);
}

/**
 * Prints the JSON that the text holds on one line. Invalid JSON becomes a string, so that it cannot break the surrounding text.
 */
function printRaw({ sortKeys }: JsonFieldShape, text: string): string {
  if (text === "") {
    return "null";
  }
  const node = findJson(text);
  return node === undefined ? JSON.stringify(text) : compactJson(text, node, { sortKeys });
}
