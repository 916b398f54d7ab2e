// What an outbox shows of one file: its beginning as text, or that it is binary. No more is read than is shown.

import type { FileHandle } from "node:fs/promises";

/** Most bytes of one file: 256 KiB. */
export const fileBytesMax = 262_144;

/** A NUL in this many first bytes makes a file binary. */
const sampleBytes = 8_192;

/** One read. Small enough to leave the event loop free between two of them. */
const pieceBytes = 65_536;

export type Contents =
  | { readonly kind: "text"; readonly text: string; readonly cutOfBytes?: number }
  | { readonly kind: "binary"; readonly bytes: number }
  | { readonly kind: "left-out" };

/** Gives up after the first bytes of a text that takes more than `bytesLeft` to show. */
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

/** By so much a text may be shorter than the bytes it is read from: a mark at the start, a character cut at the end. */
const lostBytesMax = 6;

/** Shorter at the end of the file alone. */
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
  // A character that the cut went through is dropped; one that the file itself ends in is shown replaced.
  const text = new TextDecoder().decode(bytes, { stream: isCut });
  return isCut ? { kind: "text", text, cutOfBytes: size } : { kind: "text", text };
}
