// Short values of a log's chain at regular intervals, which are signed. They show which entry is the first bad one, even if a
// forger recomputed all values after a forged entry.
//
// M1  A mark is the first 8 bytes of the value. That is enough to tell entries apart in a log whose whole last value is signed.
// M2  A log has at most 65,536 marks. In a longer log every second entry is marked, or every fourth, and so on, and the last.

import type { LogChain } from "./chain.ts";

/** Bytes of a mark. */
export const markBytes = 8;
const marksMax = 65_536;

/** Returns how many entries lie from one mark to the next in a log of so many entries. */
export function markIntervalOf(entries: number): number {
  let interval = 1;
  while (entries > marksMax * interval) {
    interval *= 2;
  }
  return interval;
}

/** Returns how many marks a log of so many entries has. */
export function markCountOf(entries: number): number {
  return Math.ceil(entries / markIntervalOf(entries));
}

/** Returns the mark of the chain's last entry. */
export function markOf(chain: LogChain): Uint8Array {
  return chain.value.subarray(0, markBytes);
}

/** Collects the marks of a log while it is read from its start. The length of the log is known only at the end. */
export class MarkList {
  readonly #bytes = Buffer.alloc(marksMax * markBytes);
  #count = 0;
  #interval = 1;

  /** Adds the mark of the last entry where one is due. Call it after each entry. */
  note(chain: LogChain): void {
    if (chain.count > marksMax * this.#interval) {
      this.#thinOut();
    }
    if (chain.count % this.#interval === 0) {
      this.#add(chain);
    }
  }

  /** Returns all marks; the last one is that of the last entry. Call it once. */
  finish(chain: LogChain): Buffer {
    if (chain.count % this.#interval !== 0) {
      this.#add(chain);
    }
    return this.#bytes.subarray(0, this.#count * markBytes);
  }

  #add(chain: LogChain): void {
    this.#bytes.set(markOf(chain), this.#count * markBytes);
    this.#count += 1;
  }

  /** Keeps every second mark. */
  #thinOut(): void {
    this.#interval *= 2;
    this.#count /= 2;
    for (let index = 0; index < this.#count; index++) {
      const start = (2 * index + 1) * markBytes;
      this.#bytes.copy(this.#bytes, index * markBytes, start, start + markBytes);
    }
  }
}
