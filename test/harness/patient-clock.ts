// A clock whose time runs, but whose long sleeps last until the test lets them pass: what only a slow poll or a deadline
// would bring about then happens when the test says so, and not before.

import { type Clock, systemClock } from "../../src/platform/base/clock.ts";

export interface PatientClock extends Clock {
  /** Ends every long sleep there is. */
  pass(): void;
  /** How many sleep for long. */
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
