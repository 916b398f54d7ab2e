// One limit for many things at once. All of them last equally long, so the oldest is always the first to be over, and one
// sleep watches all of them: a timer for each would cost more than most calls take.

import { type Clock, over } from "./clock.ts";

interface Watched {
  readonly overAtMs: number;
  readonly onOver: () => void;
}

export class TimeLimit {
  readonly #clock: Clock;
  readonly #limitMs: number;
  /** In the order in which they are over. */
  readonly #watched = new Set<Watched>();
  #sleep: AbortController | undefined;

  constructor(clock: Clock, limitMs: number) {
    this.#clock = clock;
    this.#limitMs = limitMs;
  }

  /** Calls `onOver` after the limit, unless what is returned was called before. */
  watch(onOver: () => void): () => void {
    const watched = { overAtMs: this.#clock.monotonicMs() + this.#limitMs, onOver };
    this.#watched.add(watched);
    if (this.#sleep === undefined) {
      void this.#watchAll();
    }
    return () => {
      this.#watched.delete(watched);
      if (this.#watched.size === 0) {
        this.#sleep?.abort(over);
      }
    };
  }

  /** Ends when there is nothing to watch, so that no timer is left behind. */
  async #watchAll(): Promise<void> {
    for (let [oldest] = this.#watched; oldest !== undefined; [oldest] = this.#watched) {
      const leftMs = oldest.overAtMs - this.#clock.monotonicMs();
      if (leftMs > 0) {
        this.#sleep = new AbortController();
        await this.#clock.sleep(leftMs, this.#sleep.signal);
      } else {
        this.#watched.delete(oldest);
        oldest.onOver();
      }
    }
    this.#sleep = undefined;
  }
}
