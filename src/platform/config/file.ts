// Reads a small UTF-8 text file or pipe, and never more than its limit.

import { closeSync, openSync, readSync } from "node:fs";

/** Throws when the file is missing, longer than `bytesMax`, or not UTF-8. */
export function readText(path: string, bytesMax: number): string {
  const bytes = readBytes(path, bytesMax + 1);
  if (bytes.length > bytesMax) {
    throw new Error(`longer than ${bytesMax} bytes`);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new Error("no text in UTF-8");
  }
}

/** Reads without asking for the size: a pipe has none, and shells pass the output of other programs as a pipe. */
function readBytes(path: string, bytesMax: number): Buffer {
  const buffer = Buffer.alloc(bytesMax);
  const descriptor = openSync(path, "r");
  try {
    let length = 0;
    for (;;) {
      const bytes = readSync(descriptor, buffer, length, bytesMax - length, null);
      length += bytes;
      if (bytes === 0 || length === bytesMax) {
        return buffer.subarray(0, length);
      }
    }
  } finally {
    closeSync(descriptor);
  }
}
