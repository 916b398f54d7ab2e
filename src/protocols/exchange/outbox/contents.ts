// Reads the part of a file that an outbox shows: its beginning as text, or only its size when it is binary.

import type { FileHandle } from "node:fs/promises";

/** The maximum bytes of one file: 256 KiB. */
export const fileBytesMax = 262_144;

/** A NUL in this many first bytes makes a file binary. */
const sampleBytes = 8_192;

/** The size of one read: small enough to leave the event loop free between two reads. */
const pieceBytes = 65_536;

/** The content of a file as an outbox shows it. */
export type Contents =
  | { readonly kind: "text"; readonly text: string; readonly cutOfBytes?: number }
  | { readonly kind: "binary"; readonly bytes: number }
  | { readonly kind: "left-out" };

/** Reads a file. Reads only the first bytes of a text that needs more than `bytesLeft`, and returns `left-out`. */
export async function readContents(handle: FileHandle, bytesLeft: number, signal: AbortSignal): Promise<Contents> {
  const { size } = await handle.stat();
  const sample = await readUpTo(handle, 0, sampleBytes, signal);
  if (sample.includes(0)) {
    return { kind: "binary", bytes: Math.max(size, sample.length) };
  }
  if (Math.min(size, fileBytesMax) - lostBytesMax > bytesLeft) {
    return { kind: "left-out" };
  }
  const rest = await readUpTo(handle, sample.length, fileBytesMax - sample.length, signal);
  return decode(Buffer.concat([sample, rest]), (await handle.stat()).size);
}

/** How much shorter than its bytes a text may be: a byte order mark at the start, a character cut at the end. */
const lostBytesMax = 6;

/** Reads up to `length` bytes; fewer only at the end of the file. */
async function readUpTo(handle: FileHandle, start: number, length: number, signal: AbortSignal): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for (let done = 0; done < length; ) {
    signal.throwIfAborted();
    const piece = Buffer.allocUnsafe(Math.min(pieceBytes, length - done));
    const { bytesRead } = await handle.read(piece, 0, piece.length, start + done);
    if (bytesRead === 0) {
      break;
    }
    pieces.push(piece.subarray(0, bytesRead));
    done += bytesRead;
  }
  return Buffer.concat(pieces);
}

function decode(bytes: Buffer, size: number): Contents {
  const isCut = bytes.length === fileBytesMax && size > fileBytesMax;
  // Decoding drops a character that the cut split. A character that is incomplete in the file itself is replaced.
  const text = new TextDecoder().decode(bytes, { stream: isCut });
  return isCut ? { kind: "text", text, cutOfBytes: size } : { kind: "text", text };
}
