// A clock whose time runs, but whose long sleeps last until the test ends them. What only a slow poll or a deadline would cause
// then happens when the test says so, and not before.

import { type Clock, systemClock } from "../../src/platform/base/clock.ts";

export interface PatientClock extends Clock {
  /** Ends every pending long sleep. */
  pass(): void;
  /** The number of pending long sleeps. */
  readonly sleeping: number;
}

/** Sleeps of `longMs` and more are long. Shorter ones end after `shortMaxMs` at the latest. */
export function createPatientClock(longMs: number, shortMaxMs = longMs): PatientClock {
  const sleepers = new Set<() => void>();
  return {
    ...systemClock,
    sleep: (delayMs, signal) =>
      delayMs < longMs
        ? systemClock.sleep(Math.min(delayMs, shortMaxMs), signal)
        : new Promise((resolve) => {
            const wake = (): void => {
              sleepers.delete(wake);
              signal?.removeEventListener("abort", wake);
              resolve();
            };
            sleepers.add(wake);
            signal?.addEventListener("abort", wake, { once: true });
            if (signal?.aborted) {
              wake();
            }
          }),
    get sleeping() {
      return sleepers.size;
    },
    pass: () => {
      for (const wake of [...sleepers]) {
        wake();
      }
    },
  };
}
