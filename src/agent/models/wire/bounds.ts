// How much of a stream of events may have to be held until it makes sense: a line until it ends, an event until the blank
// line after it. Whoever reads a response asks with each chunk, before anything keeps it.

import type { ModelFailure } from "../model.ts";
import { describeUnreadable } from "./failures.ts";

/** Events are a few hundred bytes; whole tool arguments in one line stay well below. */
export const lineBytesMax = 1024 * 1024;

/** An event may have many lines, none of which is too long. */
const eventBytesMax = 2 * lineBytesMax;

/** All but the end of a blank line that came in pieces, with a line break before it: CR LF CR LF. */
const tailBytes = 3;

const lineFeed = 10;

export class StreamBounds {
  readonly #provider: string;
  #lineBytes = 0;
  #eventBytes = 0;
  #tail: Uint8Array = Buffer.alloc(0);

  constructor(provider: string) {
    this.#provider = provider;
  }

  /** Undefined while all is well. */
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

/** The length of the line that a chunk leaves open, or of one that it ends, if that is too long. */
function continueLine(lineBytes: number, chunk: Uint8Array): number {
  // Lines that begin and end within one chunk need no look: a chunk is one read of the socket, 64 KiB at most.
  const firstBreak = chunk.indexOf(lineFeed);
  const ended = lineBytes + (firstBreak === -1 ? chunk.byteLength : firstBreak);
  return firstBreak === -1 || ended > lineBytesMax ? ended : chunk.byteLength - chunk.lastIndexOf(lineFeed) - 1;
}
