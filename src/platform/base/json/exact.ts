// JSON whose numbers keep all digits. JavaScript rounds integers above 2^53 and writes numbers that are too large as null.

import { joinPrinted } from "./text.ts";

/** A JSON value as it is written. */
export class RawJson {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** For `JSON.stringify`: the value as it is written. Throws SyntaxError when it is an object or a list. */
  toJSON(): unknown {
    return JSON.rawJSON(this.text);
  }
}

/** Parses JSON. A number that JavaScript would change is a RawJson. Throws SyntaxError, as JSON.parse does. */
export function parseExact(text: string): unknown {
  return longNumber.test(text)
    ? JSON.parse(text, keepDigits as (key: string, value: unknown) => unknown)
    : JSON.parse(text);
}

/** Found in every text with a number that may change: one with many digits or with an exponent. */
const longNumber = /\d{16}|\d[eE]/;

function keepDigits(_key: string, value: unknown, { source = "" }: { readonly source?: string }): unknown {
  return typeof value === "number" && isRounded(value) ? new RawJson(source) : value;
}

/** Fractions keep the precision that readers of JSON agree on. */
function isRounded(value: number): boolean {
  return !Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value));
}

/** Returns plain data as JSON, with each RawJson in it unchanged. Members that are undefined are left out. */
export function printJson(value: unknown): string {
  if (value instanceof RawJson) {
    return value.text;
  }
  if (typeof value !== "object" || value === null) {
    return JSON.stringify(value);
  }
  if (Array.isArray(value)) {
    return `[${joinPrinted(value.map(printJson))}]`;
  }
  const members = Object.entries(value).filter(([, each]) => each !== undefined);
  return `{${joinPrinted(members.map(([key, each]) => `${JSON.stringify(key)}:${printJson(each)}`))}}`;
}
