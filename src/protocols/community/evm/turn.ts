// Turns, in the order in which they are asked for. Whoever forgets to give one back loses it after a while.

import { type Clock, over } from "../../../platform/base/clock.ts";

export class Turns {
  readonly #clock: Clock;
  readonly #limitMs: number;
  #last: Promise<void> = Promise.resolve();

  constructor(clock: Clock, limitMs: number) {
    this.#clock = clock;
    this.#limitMs = limitMs;
  }

  /** Resolves with what gives the turn back; it may be called again. Throws the reason of the signal. */
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
      // Its place in the queue is kept, and empty.
      void before.then(resolve);
      throw signal.reason;
    }
    const held = new AbortController();
    void this.#clock.sleep(this.#limitMs, held.signal).then(resolve);
    return () => held.abort(over);
  }
}
