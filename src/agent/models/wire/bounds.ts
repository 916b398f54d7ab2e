// Limits the memory for incomplete parts of an event stream: a line until its end, an event until the blank line after it. The
// reader of a response checks each chunk before anything stores it.

import type { ModelFailure } from "../model.ts";
import { describeNoRoom, describeUnreadable } from "./failures.ts";

const mebibyte = 1024 * 1024;

/** The maximum length of a line. Events have a few hundred bytes, but a generated image in base64 is one line of megabytes. */
export const lineBytesMax = 16 * mebibyte;

/** The maximum length of an event: the longest line, its name and other short lines. */
const eventBytesMax = lineBytesMax + 64 * 1024;

/** The part of an event that each stream may hold at any time. */
export const ownBytesMax = mebibyte;

/** The maximum that all streams of the process hold beyond their own parts: sixteen of the longest lines. */
const sharedBytesMax = 256 * mebibyte;

/** The bytes kept from the previous chunk: CR LF CR LF without its last byte, to find a blank line that was split. */
const tailBytes = 3;

const lineFeed = 10;

/** Memory that many streams share. */
export class SharedRoom {
  #leftBytes: number;

  constructor(bytesMax: number) {
    this.#leftBytes = bytesMax;
  }

  /** Takes bytes, or gives them back when their number is negative. Returns false when there is no room; nothing is taken then. */
  take(bytes: number): boolean {
    if (bytes > this.#leftBytes) {
      return false;
    }
    this.#leftBytes -= bytes;
    return true;
  }
}

const roomOfProcess = new SharedRoom(sharedBytesMax);

/** Checks the chunks of one response. */
export class StreamBounds implements Disposable {
  readonly #provider: string;
  readonly #room: SharedRoom;
  #lineBytes = 0;
  #eventBytes = 0;
  #sharedBytes = 0;
  #tail: Uint8Array = Buffer.alloc(0);

  constructor(provider: string, room: SharedRoom = roomOfProcess) {
    this.#provider = provider;
    this.#room = room;
  }

  /** Counts a chunk. Returns a failure when a line or an event is too long, or has no room; otherwise undefined. */
  check(chunk: Uint8Array): ModelFailure | undefined {
    this.#lineBytes = continueLine(this.#lineBytes, chunk);
    if (this.#lineBytes > lineBytesMax) {
      return describeUnreadable(this.#provider, `a line is longer than ${lineBytesMax} bytes`);
    }
    this.#continueEvent(chunk);
    if (this.#eventBytes > eventBytesMax) {
      return describeUnreadable(this.#provider, `an event is longer than ${eventBytesMax} bytes`);
    }
    return this.#share(Math.max(this.#eventBytes - ownBytesMax, 0)) ? undefined : describeNoRoom(this.#provider);
  }

  /** Gives the shared room back. */
  [Symbol.dispose](): void {
    this.#share(0);
  }

  /** Holds this much of the shared room. */
  #share(bytes: number): boolean {
    const hasRoom = this.#room.take(bytes - this.#sharedBytes);
    this.#sharedBytes = hasRoom ? bytes : this.#sharedBytes;
    return hasRoom;
  }

  #continueEvent(chunk: Uint8Array): void {
    const seen = Buffer.concat([this.#tail, chunk]);
    const blankAt = Math.max(seen.lastIndexOf("\n\n"), seen.lastIndexOf("\n\r\n"));
    this.#eventBytes = blankAt === -1 ? this.#eventBytes + chunk.byteLength : seen.byteLength - blankAt;
    this.#tail = seen.subarray(-tailBytes);
  }
}

/** Returns the length of the line that the chunk leaves open, or of a line that it ends when that line is too long. */
function continueLine(lineBytes: number, chunk: Uint8Array): number {
  // Lines that begin and end within one chunk need no check: a chunk is one socket read, at most 64 KiB.
  const firstBreak = chunk.indexOf(lineFeed);
  const ended = lineBytes + (firstBreak === -1 ? chunk.byteLength : firstBreak);
  return firstBreak === -1 || ended > lineBytesMax ? ended : chunk.byteLength - chunk.lastIndexOf(lineFeed) - 1;
}
