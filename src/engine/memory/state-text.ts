// The rules of state: valid keys, and valid JSON texts of values. Pure.

import { parseFreeJson } from "../../platform/base/json/free.ts";
import { JsonTextError } from "../../platform/base/json/text.ts";

/** The maximum characters of a key. */
const keyCharsMax = 255;

/** Returns the problem of a key, to be put behind its name in a message. Undefined when the key is valid. */
export function findKeyProblem(key: string): string | undefined {
  // A character has at most two UTF-16 units, so a far too long text is not split.
  const chars = key.length > 2 * keyCharsMax ? Number.POSITIVE_INFINITY : [...key].length;
  if (chars < 1 || chars > keyCharsMax) {
    return `must have 1 to ${keyCharsMax} characters`;
  }
  if (!key.isWellFormed()) {
    return "contains half of a surrogate pair: remove it";
  }
  return /\p{Cc}/u.test(key) ? "contains a control character: remove it" : undefined;
}

/** Returns the problem of a value, a JSON text without white space around it. Undefined when the value is valid. */
export function findValueProblem(value: string): string | undefined {
  try {
    parseFreeJson(value);
    return undefined;
  } catch (error) {
    if (error instanceof JsonTextError) {
      return `is not JSON that can be stored: ${error.message}`;
    }
    throw error;
  }
}

/** Removes JSON's white space around a value, which is neither counted nor stored. */
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
