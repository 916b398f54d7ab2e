// A clock that is corrected by another clock which all processes of a service can ask. The clocks of machines disagree,
// sometimes by minutes. Values that are kept or judged by wall time must not depend on which machine serves the call. Examples:
// ids (they name the day of a log), times in results, the validity of a signature.
//
// C1  A clock within the error of the reading is left alone: corrections are for wrong clocks, not for jitter.
// C2  A slow reading proves little: it was taken at some time between question and answer.

import type { Clock } from "./clock.ts";

/** Machines that keep their time agree better than this, and no code relies on more. */
const toleranceMs = 1_000;

/** One reading of the other clock. */
export interface ClockReading {
  /** When it was asked, by the monotonic clock. The answer arrived just now. */
  readonly askedAtMs: number;
  /** The wall time that the other clock showed, in milliseconds. */
  readonly shownMs: number;
}

/** The own clock, corrected by the readings of another one. */
export class SyncedClock implements Clock {
  readonly #own: Clock;
  /** How far the own clock is ahead, as far as known. */
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

  /** Applies a reading. Returns how far the own clock is ahead when the correction changed; undefined when nothing changed. */
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
