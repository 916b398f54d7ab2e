// One limit for many things at once. All of them last equally long, so the oldest is always the first to be over, and one
// sleep watches all of them: a timer for each would cost more than much of what is watched.

import type { Clock } from "./clock.ts";

/** A sleep is not ended with the last that it watches, since the next comes soon; this is how long it may outlast it. */
const sleepMsMax = 100;

interface Watched {
  readonly overAtMs: number;
  readonly onOver: () => void;
}

export class TimeLimit {
  readonly #clock: Clock;
  readonly #limitMs: number;
  /** In the order in which they are over. */
  readonly #watched = new Set<Watched>();
  #isWatching = false;

  constructor(clock: Clock, limitMs: number) {
    this.#clock = clock;
    this.#limitMs = limitMs;
  }

  /** Calls `onOver` after the limit, unless what is returned was called before. */
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
