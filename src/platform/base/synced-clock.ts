// A clock that is set by another one, which all processes of a service can ask. The clocks of machines disagree, sometimes by
// minutes; what is kept or judged by wall time – ids, which name the day of a log, times in results, how long a signature is
// good – must not depend on the machine that a call has met.
//
// C1  A clock that may be right is left alone: corrections are for those that are wrong, not for jitter.
// C2  What takes long to ask proves little: a reading was taken at some time between question and answer.

import type { Clock } from "./clock.ts";

/** Machines that keep their time agree better than this, and nobody counts on more. */
const toleranceMs = 1_000;

/** What the other clock showed. */
export interface ClockReading {
  /** When it was asked, by the monotonic clock. The answer is here now. */
  readonly askedAtMs: number;
  readonly shownMs: number;
}

export class SyncedClock implements Clock {
  readonly #own: Clock;
  /** How far the own clock is ahead, as far as is known. */
  #aheadMs = 0;

  constructor(own: Clock) {
    this.#own = own;
  }

  nowMs(): number {
    return this.#own.nowMs() - this.#aheadMs;
  }

  monotonicMs(): number {
    return this.#own.monotonicMs();
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return this.#own.sleep(delayMs, signal);
  }

  /** Returns how far the own clock is ahead when that is news; undefined when nothing changes. */
  sync({ askedAtMs, shownMs }: ClockReading): number | undefined {
    const halfMs = (this.monotonicMs() - askedAtMs) / 2;
    const errorMs = Math.round(this.nowMs() - (shownMs + halfMs));
    if (Math.abs(errorMs) <= halfMs + toleranceMs) {
      return undefined;
    }
    this.#aheadMs += errorMs;
    return this.#aheadMs;
  }
}
