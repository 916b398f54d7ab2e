// Limits the memory for incomplete parts of an event stream: a line until its end, an event until the blank line after it. The
// reader of a response checks each chunk before anything stores it.

import type { ModelFailure } from "../model.ts";
import { describeUnreadable } from "./failures.ts";

/** The maximum length of a line. Events have a few hundred bytes; whole tool arguments in one line stay well below this. */
export const lineBytesMax = 1024 * 1024;

/** The maximum length of an event, which may have many lines within their own limit. */
const eventBytesMax = 2 * lineBytesMax;

/** The bytes kept from the previous chunk: CR LF CR LF without its last byte, to find a blank line that was split. */
const tailBytes = 3;

const lineFeed = 10;

/** Checks the chunks of one response. */
export class StreamBounds {
  readonly #provider: string;
  #lineBytes = 0;
  #eventBytes = 0;
  #tail: Uint8Array = Buffer.alloc(0);

  constructor(provider: string) {
    this.#provider = provider;
  }

  /** Counts a chunk. Returns a failure when a line or an event is too long, otherwise undefined. */
  check(chunk: Uint8Array): ModelFailure | undefined {
    this.#lineBytes = continueLine(this.#lineBytes, chunk);
    if (this.#lineBytes > lineBytesMax) {
      return describeUnreadable(this.#provider, `a line is longer than ${lineBytesMax} bytes`);
    }
    this.#continueEvent(chunk);
    return this.#eventBytes > eventBytesMax
      ? describeUnreadable(this.#provider, `an event is longer than ${eventBytesMax} bytes`)
      : undefined;
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
