// One timeout for many watched things. All have the same duration, so the oldest always expires first, and one sleep covers all
// of them. A timer for each would cost more than many of the watched things.

import type { Clock } from "./clock.ts";

/**
 * The maximum length of one sleep. A sleep is not cancelled with the last watched thing, since the next comes soon; it may
 * outlast it by this much.
 */
const sleepMsMax = 100;

interface Watched {
  readonly overAtMs: number;
  readonly onOver: () => void;
}

/** Calls a function for each watched thing that outlasts the limit. */
export class TimeLimit {
  readonly #clock: Clock;
  readonly #limitMs: number;
  /** In the order in which they expire. */
  readonly #watched = new Set<Watched>();
  #isWatching = false;

  constructor(clock: Clock, limitMs: number) {
    this.#clock = clock;
    this.#limitMs = limitMs;
  }

  /** Calls `onOver` after the limit, unless the caller calls the returned function first. */
  watch(onOver: () => void): () => void {
    const watched = { overAtMs: this.#clock.monotonicMs() + this.#limitMs, onOver };
    this.#watched.add(watched);
    if (!this.#isWatching) {
      void this.#watchAll();
    }
    return () => this.#watched.delete(watched);
  }

  async #watchAll(): Promise<void> {
    this.#isWatching = true;
    for (let [oldest] = this.#watched; oldest !== undefined; [oldest] = this.#watched) {
      const leftMs = oldest.overAtMs - this.#clock.monotonicMs();
      if (leftMs > 0) {
        await this.#clock.sleep(Math.min(leftMs, sleepMsMax));
      } else {
        this.#watched.delete(oldest);
        oldest.onOver();
      }
    }
    this.#isWatching = false;
  }
}
