// Reads a small text file, whatever its name leads to: never more than its limit, and nothing that is not UTF-8.

import { closeSync, openSync, readSync } from "node:fs";

/** Throws when the file is missing, no text, or longer than `bytesMax`. */
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

/** By size nothing could be told of a pipe, which is how a shell hands over what another program prints. */
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
