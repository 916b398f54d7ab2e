// Applies the limits of JSON texts before anything is built from a text. The scan takes linear time and no memory. It accepts more
// than JSON: the parser reports the errors.

import { jsonDepthMax, jsonValuesMax, tooDeep, tooManyValues } from "./text.ts";

/** The bytes between two steps: about a millisecond. */
const stepBytes = 1_048_576;

const quote = 0x22;
const comma = 0x2c;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const space = 0x20;

/**
 * Scans a text in UTF-8 in steps and returns the number of its values. Throws JsonTextError for a text that exceeds a limit:
 * `more than 250000 values`.
 */
export function* scanJson(bytes: Uint8Array): Generator<void, number> {
  const scan: Scan = { at: 0, values: bytes.length === 0 ? 0 : 1, depth: 0, isOpening: false, isInString: false };
  while (scan.at < bytes.length) {
    if (scan.at > 0) {
      yield;
    }
    scanStep(bytes, scan);
  }
  return scan.values;
}

interface Scan {
  at: number;
  values: number;
  depth: number;
  /** Whether the last token opened an object or array, which is still empty then. */
  isOpening: boolean;
  isInString: boolean;
}

function scanStep(bytes: Uint8Array, scan: Scan): void {
  const end = Math.min(bytes.length, scan.at + stepBytes);
  let { at, values, depth, isOpening, isInString } = scan;
  for (; at < end; at += 1) {
    const byte = bytes[at] as number;
    if (isInString) {
      if (byte === backslash) {
        at += 1;
      } else if (byte === quote) {
        isInString = false;
      }
      continue;
    }
    if (byte <= space) {
      continue;
    }
    if (byte === comma || (isOpening && byte !== closeBrace && byte !== closeBracket)) {
      values += 1;
    }
    isOpening = byte === openBrace || byte === openBracket;
    isInString = byte === quote;
    if (isOpening) {
      depth += 1;
      if (depth > jsonDepthMax) {
        throw tooDeep(jsonDepthMax);
      }
    } else if (byte === closeBrace || byte === closeBracket) {
      depth -= 1;
    }
  }
  if (values > jsonValuesMax) {
    throw tooManyValues(jsonValuesMax);
  }
  Object.assign(scan, { at, values, depth, isOpening, isInString });
}
