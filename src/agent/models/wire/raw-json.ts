// Prints a body with parts that are kept as they are written: JSON.parse would round their numbers.

import { joinPrinted } from "../../../platform/base/json/text.ts";

/** A JSON value as it is written. */
export class RawJson {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
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
