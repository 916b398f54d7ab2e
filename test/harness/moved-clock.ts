// A clock whose time runs as usual, and jumps when a test says so: a wait of half a minute is over at once, and everything else
// continues normally.

import { type Clock, systemClock } from "../../src/platform/base/clock.ts";

export interface MovedClock extends Clock {
  /** Moves the time forward by this much; sleeps that are over by then end. */
  advance(byMs: number): void;
}

export function createMovedClock(): MovedClock {
  const sleepers = new Set<{ readonly dueMs: number; wake(): void }>();
  let aheadMs = 0;
  const monotonicMs = (): number => systemClock.monotonicMs() + aheadMs;
  return {
    nowMs: () => systemClock.nowMs() + aheadMs,
    monotonicMs,
    advance: (byMs) => {
      aheadMs += byMs;
      for (const sleeper of [...sleepers].filter(({ dueMs }) => dueMs <= monotonicMs())) {
        sleeper.wake();
      }
    },
    sleep: async (delayMs, signal) => {
      const woken = new AbortController();
      const sleeper = { dueMs: monotonicMs() + delayMs, wake: () => woken.abort() };
      sleepers.add(sleeper);
      const ends = signal === undefined ? woken.signal : AbortSignal.any([woken.signal, signal]);
      await systemClock.sleep(delayMs, ends);
      sleepers.delete(sleeper);
    },
  };
}
