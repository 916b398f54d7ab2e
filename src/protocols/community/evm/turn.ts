// A mutex with a FIFO queue. A holder that does not release its turn loses it after a time limit.

import { type Clock, over } from "../../../platform/base/clock.ts";

/** Grants one turn at a time, in the order of the requests. */
export class Turns {
  readonly #clock: Clock;
  readonly #limitMs: number;
  #last: Promise<void> = Promise.resolve();

  constructor(clock: Clock, limitMs: number) {
    this.#clock = clock;
    this.#limitMs = limitMs;
  }

  /**
   * Waits for a turn. Returns the function that releases it; further calls of that function do nothing.
   * @throws the signal's reason when it aborts.
   */
  async take(signal?: AbortSignal): Promise<() => void> {
    const before = this.#last;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last = promise;
    const waiting = new AbortController();
    const aborted = new Promise<void>((wake) => {
      signal?.addEventListener("abort", () => wake(), { once: true, signal: waiting.signal });
    });
    if (signal?.aborted !== true) {
      await Promise.race([before, aborted]);
    }
    waiting.abort(over);
    if (signal?.aborted) {
      // Its slot in the queue passes on as soon as the one before ends.
      void before.then(resolve);
      throw signal.reason;
    }
    const held = new AbortController();
    void this.#clock.sleep(this.#limitMs, held.signal).then(resolve);
    return () => held.abort(over);
  }
}
