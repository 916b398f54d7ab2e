// Limits the time of an action: its own timeout, the time that its run has left, and the disconnect of its caller.

import { type Clock, over } from "../../../platform/base/clock.ts";
import { Fault } from "../../../platform/base/fault.ts";
import { onAbort } from "../../../platform/base/on-abort.ts";
import { reasons } from "../reasons.ts";

/** Options of an action's time limit. */
export interface ActionTimeOptions {
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** The time until the deadline of the run. */
  readonly timeLeftMs: number;
  /** Aborts when the caller has left. */
  readonly caller: AbortSignal;
}

/** The time limit of one action. */
export class ActionTime implements Disposable {
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #deadlineMs: number;
  readonly #ended = new AbortController();
  readonly #disposed = new AbortController();
  readonly #end = Promise.withResolvers<never>();
  readonly #listening: Disposable;

  constructor({ clock, timeoutMs, timeLeftMs, caller }: ActionTimeOptions) {
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
    this.#deadlineMs = clock.monotonicMs() + timeLeftMs;
    // Avoids an unhandled rejection when the time ends while no work is being awaited.
    this.#end.promise.catch(() => {});
    this.#listening = onAbort(caller, () => this.#finish(caller.reason));
    if (caller.aborted) {
      this.#finish(caller.reason);
    }
  }

  /** Aborts when the action is over. */
  get disposed(): AbortSignal {
    return this.#disposed.signal;
  }

  /** Aborts when the time is over, with the reason. */
  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  /**
   * Returns the result of the work, or throws the reason when the time is over first. Each piece of a stream has the whole
   * timeout.
   */
  async bound<T>(work: () => Promise<T>): Promise<T> {
    const done = new AbortController();
    const leftMs = this.#deadlineMs - this.#clock.monotonicMs();
    void this.#clock.sleep(Math.max(0, Math.min(leftMs, this.#timeoutMs)), done.signal).then(() => {
      if (!done.signal.aborted) {
        this.#finish(leftMs <= this.#timeoutMs ? deadlineExceeded() : timedOut(this.#timeoutMs));
      }
    });
    try {
      return await Promise.race([this.#end.promise, work()]);
    } finally {
      done.abort(over);
    }
  }

  /** Ends the time early, for another reason. */
  end(why: Fault): void {
    this.#finish(why);
  }

  [Symbol.dispose](): void {
    this.#disposed.abort(over);
    this.#listening[Symbol.dispose]();
  }

  #finish(why: unknown): void {
    this.#ended.abort(why);
    this.#end.reject(why);
  }
}

/** Returns the fault for a run past its deadline. */
export function deadlineExceeded(): Fault {
  return new Fault(reasons.RUN_DEADLINE_EXCEEDED, "the deadline of the run has passed");
}

function timedOut(timeoutMs: number): Fault {
  return new Fault("TIMEOUT", `no answer within ${timeoutMs / 1_000} s`);
}
