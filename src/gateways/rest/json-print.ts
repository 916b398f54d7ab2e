// Prints messages as REST JSON by descriptor: snake_case keys in field-number order, 64-bit integers as numbers while
// they are exact, raw JSON as it is, one line. Defaults are left out unless an option asks for them.

import { type DescField, type DescMessage, type Message, ScalarType } from "@bufbuild/protobuf";
import { type ReflectMessage, reflect } from "@bufbuild/protobuf/reflect";
import { base64Encode } from "@bufbuild/protobuf/wire";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { enumShape, isTimestamp, type JsonFieldShape, jsonShape } from "./json-shape.ts";
import { compactJson, JsonTextError, parseJsonText } from "./json-text.ts";
import { formatTimestamp } from "./timestamp.ts";

export function printMessage(desc: DescMessage, message: Message): string {
  return escapeMarkup(printReflected(reflect(desc, message, false)));
}

/** Prints one field of a message, also when it is empty; an unset message is `null`. */
export function printField(desc: DescMessage, message: Message, field: DescField): string {
  const reflected = reflect(desc, message, false);
  const shape = jsonShape(desc).byName.get(field.name);
  if (shape === undefined || (field.fieldKind === "message" && !reflected.isSet(field))) {
    return "null";
  }
  return escapeMarkup(printFieldValue(reflected, shape));
}

/** JSON that is safe inside HTML and JavaScript. The characters can only stand in strings, so one pass over all is right. */
export function escapeMarkup(json: string): string {
  return markupPattern.test(json) ? json.replaceAll(markupPatternAll, escapeCharacter) : json;
}

const markupPattern = /[<>&\u2028\u2029]/;
const markupPatternAll = /[<>&\u2028\u2029]/g;

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

function printReflected(message: ReflectMessage): string {
  if (isTimestamp(message.desc)) {
    return JSON.stringify(formatTimestamp(message.message as Timestamp));
  }
  const members: string[] = [];
  for (const shape of jsonShape(message.desc).fields) {
    if (shape.emitEmpty || message.isSet(shape.field)) {
      members.push(`"${shape.key}":${printFieldValue(message, shape)}`);
    }
  }
  return `{${members.join(",")}}`;
}

function printFieldValue(message: ReflectMessage, { field, raw }: JsonFieldShape): string {
  if (field.fieldKind !== "list") {
    return printValue(field, message.get(field), raw);
  }
  const items = [...message.get(field)].map((item) => printValue(field, item, raw));
  return `[${items.join(",")}]`;
}

function printValue(field: DescField, value: unknown, raw: boolean): string {
  if (field.message !== undefined) {
    return printReflected(value as ReflectMessage);
  }
  if (field.enum !== undefined) {
    const text = enumShape(field.enum).texts.get(value as number);
    return text === undefined ? String(value) : JSON.stringify(text);
  }
  return raw ? printRaw(value as string) : printScalar(field.scalar, value);
}

function printScalar(type: ScalarType | undefined, value: unknown): string {
  if (typeof value === "bigint") {
    const exact = value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER;
    return exact ? value.toString() : `"${value}"`;
  }
  if (type === ScalarType.BYTES) {
    return `"${base64Encode(value as Uint8Array)}"`;
  }
  // NaN and the infinities have no JSON numbers; Protobuf's JSON writes them as strings.
  return typeof value === "number" && !Number.isFinite(value) ? `"${value}"` : JSON.stringify(value);
}

/** The JSON that the text holds, on one line. Text that is not JSON must not break its surroundings: it becomes a string. */
function printRaw(text: string): string {
  if (text === "") {
    return "null";
  }
  try {
    return compactJson(text, parseJsonText(text));
  } catch (error) {
    if (error instanceof JsonTextError) {
      return JSON.stringify(text);
    }
    throw error;
  }
}
