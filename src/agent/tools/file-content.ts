// Reads a whole file, up to the maximum size for tools.

import type { FileHandle } from "node:fs/promises";
import { fileBytesMax } from "./file-size.ts";

/** Reads at most one byte beyond the maximum, so that a file that is too large shows. Restarts when the file grows. */
export async function readContent(handle: FileHandle, signal: AbortSignal): Promise<Buffer> {
  for (;;) {
    const { size } = await handle.stat();
    const buffer = Buffer.allocUnsafe(Math.min(size, fileBytesMax) + 1);
    const length = await fill(buffer, handle, signal);
    if (length < buffer.length || length > fileBytesMax) {
      return buffer.subarray(0, length);
    }
  }
}

async function fill(buffer: Buffer, handle: FileHandle, signal: AbortSignal): Promise<number> {
  let length = 0;
  while (length < buffer.length) {
    signal.throwIfAborted();
    const { bytesRead } = await handle.read(buffer, length, buffer.length - length, length);
    if (bytesRead === 0) {
      break;
    }
    length += bytesRead;
  }
  return length;
}
