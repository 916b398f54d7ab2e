// A task that a replica repeats until it closes.

import { type Clock, over } from "./clock.ts";

/** Options of a loop. */
export interface LoopOptions {
  readonly clock: Pick<Clock, "sleep">;
  /** The time in milliseconds from the end of a pass to the start of the next one, also when the pass failed. */
  readonly everyMs: number;
  /** True when the loop also waits before the first pass. */
  readonly waitsFirst?: boolean;
  /** True while there is nothing to look at: the loop then rests, without a timer, until it is resumed or woken. */
  readonly isIdle?: () => boolean;
  /** A number that it returns is the time to the next pass in place of `everyMs`, in milliseconds. */
  readonly pass: () => unknown;
  /** Receives the error of a failed pass. The next pass follows in any case. */
  readonly onError: (error: unknown) => void;
}

/** Repeats `pass` with a pause in between, until it is closed. */
export class Loop {
  readonly #options: LoopOptions;
  readonly #closing = new AbortController();
  #wake = new AbortController();
  /** Ends the rest. */
  #resume: () => void = () => {};
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

  /** Ends the wait: the next pass starts at once, or after the current one. */
  wake(): void {
    this.#wake.abort(over);
    this.#resume();
  }

  /** Ends a rest, since there is something to look at: the next pass follows after the usual wait. */
  resume(): void {
    this.#resume();
  }

  /** Stops the loop. Resolves when the current pass has ended. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.wake();
    await this.#working;
  }

  async #work(): Promise<void> {
    const { pass, onError, waitsFirst = false } = this.#options;
    if (waitsFirst) {
      await this.#wait(this.#options.everyMs);
    }
    while (!this.#closing.signal.aborted) {
      this.#wake = new AbortController();
      let waitMs = this.#options.everyMs;
      try {
        const nextMs = await pass();
        waitMs = typeof nextMs === "number" ? nextMs : waitMs;
      } catch (error) {
        onError(error);
      }
      await this.#wait(waitMs);
    }
  }

  async #wait(waitMs: number): Promise<void> {
    const { clock, isIdle } = this.#options;
    const { signal } = this.#wake;
    if (isIdle?.() === true && !signal.aborted) {
      await new Promise<void>((resolve) => {
        this.#resume = resolve;
      });
    }
    await clock.sleep(waitMs, signal);
  }
}
