// Prints a body with parts that are kept as they are written: JSON.parse would round their numbers.

import { randomUUID } from "node:crypto";

/** Begins each raw text. No sender can know it, so no other string begins with it. */
const mark = `${randomUUID()}:`;

const marked = new RegExp(`"${mark}(?:[^"\\\\]|\\\\.)*"`, "g");

/** A JSON value as it is written. */
export class RawJson {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toJSON(): string {
    return mark + this.text;
  }
}

/** Returns a value as JSON, with each RawJson in it unchanged. */
export function printJson(value: unknown): string {
  return JSON.stringify(value).replace(marked, (literal) => String(JSON.parse(literal)).slice(mark.length));
}
