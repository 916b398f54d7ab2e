// The rules of what is kept as state: which keys, and which JSON texts as values. Pure.

import { parseFreeJson } from "../../../platform/base/json/free.ts";
import { JsonTextError } from "../../../platform/base/json/text.ts";
import { keyCharsMax } from "./limits.ts";

/** What is wrong with a key, said of it; undefined when nothing is. */
export function findKeyProblem(key: string): string | undefined {
  // No character has more than two units: a text that is far too long is not taken apart.
  const chars = key.length > 2 * keyCharsMax ? Number.POSITIVE_INFINITY : [...key].length;
  if (chars < 1 || chars > keyCharsMax) {
    return `has to have 1 to ${keyCharsMax} characters`;
  }
  if (!key.isWellFormed()) {
    return "has half of a surrogate pair in it: leave it out";
  }
  return /\p{Cc}/u.test(key) ? "has a control character in it: leave it out" : undefined;
}

/** What is wrong with a value, a JSON text without blanks around it, said of it; undefined when nothing is. */
export function findValueProblem(value: string): string | undefined {
  try {
    parseFreeJson(value);
    return undefined;
  } catch (error) {
    if (error instanceof JsonTextError) {
      return `is not JSON that can be kept: ${error.message}`;
    }
    throw error;
  }
}

/** A value without the blanks of JSON around it; what it is counted and kept as. */
export function trimValue(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(text.charCodeAt(start))) {
    start += 1;
  }
  while (end > start && isBlank(text.charCodeAt(end - 1))) {
    end -= 1;
  }
  return text.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09 || code === 0x0a || code === 0x0d;
}
