// Short values of a log's chain at regular places, inside what is signed. They tell which entry is the first bad one, even
// if somebody has computed all values after a forged entry anew.
//
// M1  A mark is the first 8 bytes of the value: enough to tell entries apart in a log that the whole last value vouches for.
// M2  There are no more than 65,536: of a longer log every second entry is marked, or every fourth, and so on, and the last.

import type { LogChain } from "./chain.ts";

export const markBytes = 8;
const marksMax = 65_536;

/** How far marks stand apart in a log of so many entries. */
export function markIntervalOf(entries: number): number {
  let interval = 1;
  while (entries > marksMax * interval) {
    interval *= 2;
  }
  return interval;
}

/** How many marks such a log has. */
export function markCountOf(entries: number): number {
  return Math.ceil(entries / markIntervalOf(entries));
}

export function markOf(chain: LogChain): Uint8Array {
  return chain.value.subarray(0, markBytes);
}

/** Gathers the marks of a log while it is read from its start; how long it is shows in the end. */
export class MarkList {
  readonly #bytes = Buffer.alloc(marksMax * markBytes);
  #count = 0;
  #interval = 1;

  /** Call it after each entry. */
  note(chain: LogChain): void {
    if (chain.count > marksMax * this.#interval) {
      this.#thinOut();
    }
    if (chain.count % this.#interval === 0) {
      this.#add(chain);
    }
  }

  /** All of them, that of the last entry at the end. Call it once. */
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

  /** Keeps every second one. */
  #thinOut(): void {
    this.#interval *= 2;
    this.#count /= 2;
    for (let index = 0; index < this.#count; index++) {
      const start = (2 * index + 1) * markBytes;
      this.#bytes.copy(this.#bytes, index * markBytes, start, start + markBytes);
    }
  }
}
