// Messages of google.protobuf whose JSON form is a single string.

import { create, type DescMessage, type Message } from "@bufbuild/protobuf";
import { type FieldMask, FieldMaskSchema, type Timestamp } from "@bufbuild/protobuf/wkt";
import { formatTimestamp, parseTimestamp } from "./timestamp.ts";

/** How such a message is read and printed. */
export interface TextForm {
  /** Returns undefined for an invalid text. */
  readonly parse: (text: string) => Message | undefined;
  /** `timeDigits`: the number of fraction digits that a timestamp is printed with. */
  readonly format: (message: Message, timeDigits?: number) => string;
  /** The expected form, for error messages: `expected …`. */
  readonly expected: string;
  readonly schema: { readonly type: "string"; readonly format?: string; readonly examples?: readonly string[] };
}

const textForms: Readonly<Record<string, TextForm>> = {
  "google.protobuf.Timestamp": {
    parse: parseTimestamp,
    format: (message, timeDigits) => formatTimestamp(message as Timestamp, timeDigits),
    expected: "an RFC 3339 time such as 2026-01-31T12:00:00Z",
    schema: { type: "string", format: "date-time" },
  },
  "google.protobuf.FieldMask": {
    parse: (text) => create(FieldMaskSchema, { paths: text === "" ? [] : text.split(",").map(toSnakeCase) }),
    format: (message) => (message as FieldMask).paths.join(","),
    expected: "names of fields with commas between them, such as name,description",
    schema: { type: "string", examples: ["name,description"] },
  },
};

/** Returns the text form of a message. Returns undefined for a message whose JSON form is an object. */
export function findTextForm(desc: DescMessage | undefined): TextForm | undefined {
  return desc && textForms[desc.typeName];
}

/** Paths use the field names of the contract; canonical JSON has them in lower camel case. */
function toSnakeCase(path: string): string {
  return path.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
