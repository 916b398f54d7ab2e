// Parses the attributes of a tag: `name="value"` anywhere in it. Names have any case, the last duplicate wins, nothing is
// unescaped, and unknown names are ignored.

import { dropBlanks, skipBlanks } from "./lines.ts";

/** The attributes of a tag, as text. */
export interface Attributes {
  path?: string;
  startLine?: string;
  endLine?: string;
  /** The text after the name in the closing tag, so that a body may contain the usual closing tag as a line. */
  end?: string;
  /** Set when a value has no straight double quotes around it. Such a value is not read. */
  isBadlyQuoted?: true;
}

/** Reads the attributes of a tag, such as `[EDIT_FILE path="a.ts" start_line="1" end_line="2"]`. */
export function readAttributes(tag: string): Attributes {
  const attributes: Attributes = {};
  // Text before this offset belongs to the previous attribute.
  let floor = 0;
  for (let equals = tag.indexOf("="); equals !== -1; equals = tag.indexOf("=", Math.max(equals + 1, floor))) {
    const quote = skipBlanks(tag, equals + 1, tag.length);
    if (tag.charCodeAt(quote) !== doubleQuote) {
      attributes.isBadlyQuoted = true;
      continue;
    }
    const end = tag.indexOf('"', quote + 1);
    if (end === -1) {
      attributes.isBadlyQuoted = true;
      break;
    }
    const name = wordBefore(tag, floor, dropBlanks(tag, floor, equals));
    if (name !== "") {
      setAttribute(attributes, name, tag.slice(quote + 1, end));
      floor = end + 1;
    }
  }
  return attributes;
}

const integer = /^[\t-\r ]*[+-]?[0-9]+[\t-\r ]*$/;

/** Parses a 32-bit integer. Outer ASCII blanks, a sign and leading zeros are allowed. Returns undefined for any other text. */
export function parseInteger(value: string): number | undefined {
  if (!integer.test(value)) {
    return undefined;
  }
  // Adding 0 turns -0 into 0.
  const number = Number(value) + 0;
  return number === (number | 0) ? number : undefined;
}

const doubleQuote = 0x22;

function setAttribute(attributes: Attributes, name: string, value: string): void {
  switch (name.toLowerCase()) {
    case "path":
      attributes.path = value;
      break;
    case "start_line":
      attributes.startLine = value;
      break;
    case "end_line":
      attributes.endLine = value;
      break;
    case "end":
      attributes.end = value;
      break;
  }
}

function wordBefore(tag: string, floor: number, end: number): string {
  let start = end;
  while (start > floor && isWordCharacter(tag.charCodeAt(start - 1))) {
    start -= 1;
  }
  return tag.slice(start, end);
}

const wordCharacter = /^[\p{L}\p{Mn}\p{Nd}\p{Pc}]$/u;

function isWordCharacter(code: number): boolean {
  if (code >= 0x80) {
    return wordCharacter.test(String.fromCharCode(code));
  }
  return isLetter(code) || (code >= 0x30 && code <= 0x39) || code === 0x5f;
}

function isLetter(code: number): boolean {
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x7a;
}
