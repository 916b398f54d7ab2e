// Digests that identify a file after an attempt with an unknown outcome.

import { createHash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";

/** Returns the SHA-256 in hexadecimal, as a `Trace` holds it. */
export function digestOf(content: Uint8Array | string): string {
  return createHash("sha256").update(content).digest("hex");
}

/** The size of one read: small enough to leave the event loop free between two reads. */
const pieceBytes = 262_144;

/** Returns the digest of a file of any size, in bounded memory. */
export async function digestFile(handle: FileHandle, signal: AbortSignal): Promise<string> {
  const hash = createHash("sha256");
  const buffer = new Uint8Array(pieceBytes);
  for (let at = 0; ; ) {
    signal.throwIfAborted();
    const { bytesRead } = await handle.read(buffer, 0, pieceBytes, at);
    if (bytesRead === 0) {
      return hash.digest("hex");
    }
    hash.update(buffer.subarray(0, bytesRead));
    at += bytesRead;
  }
}
