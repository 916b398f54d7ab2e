// Messages of google.protobuf that JSON has as one text.

import { create, type DescMessage, type Message } from "@bufbuild/protobuf";
import { type FieldMask, FieldMaskSchema, type Timestamp } from "@bufbuild/protobuf/wkt";
import { formatTimestamp, parseTimestamp } from "./timestamp.ts";

export interface TextForm {
  /** Returns undefined for a text of another form. */
  readonly parse: (text: string) => Message | undefined;
  /** `timeDigits`: digits of a second that a timestamp is printed with. */
  readonly format: (message: Message, timeDigits?: number) => string;
  /** What a text looks like, for error messages: `expected …`. */
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

/** Returns undefined for a message that JSON has as an object. */
export function findTextForm(desc: DescMessage | undefined): TextForm | undefined {
  return desc && textForms[desc.typeName];
}

/** Paths name fields as the contract does; canonical JSON has them in lower camel case. */
function toSnakeCase(path: string): string {
  return path.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
