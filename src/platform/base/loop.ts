// What a replica does again and again until it closes.

import { type Clock, over } from "./clock.ts";

export interface LoopOptions {
  readonly clock: Pick<Clock, "sleep">;
  /** From the end of a pass to the begin of the next one. */
  readonly everyMs: number;
  /** True waits before the first pass too. */
  readonly waitsFirst?: boolean;
  readonly pass: () => Promise<void> | void;
  /** Hears what a pass throws. The next pass comes in any case. */
  readonly onError: (error: unknown) => void;
}

export class Loop {
  readonly #options: LoopOptions;
  readonly #closing = new AbortController();
  #wake = new AbortController();
  #working: Promise<void> | undefined;

  constructor(options: LoopOptions) {
    this.#options = options;
  }

  /** Aborts when the loop closes. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  open(): void {
    this.#working ??= this.#work();
  }

  /** Ends the wait: the next pass begins at once, or after the one under way. */
  wake(): void {
    this.#wake.abort(over);
  }

  /** Resolves when the pass under way is over. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#working;
  }

  async #work(): Promise<void> {
    const { pass, onError, waitsFirst = false } = this.#options;
    if (waitsFirst) {
      await this.#wait();
    }
    while (!this.#closing.signal.aborted) {
      this.#wake = new AbortController();
      try {
        await pass();
      } catch (error) {
        onError(error);
      }
      await this.#wait();
    }
  }

  async #wait(): Promise<void> {
    const { clock, everyMs } = this.#options;
    await clock.sleep(everyMs, AbortSignal.any([this.#wake.signal, this.#closing.signal]));
  }
}
