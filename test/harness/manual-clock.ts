// A clock that stands still until a test moves it, or that jumps over every sleep and records its length.

import type { Clock } from "../../src/platform/base/clock.ts";

export interface ManualClock extends Clock {
  /** The length of every requested sleep, in order. */
  readonly delaysMs: readonly number[];
  advance(byMs: number): void;
  /** Resolves once `count` sleeps have been requested. */
  slept(count: number): Promise<void>;
}

export function createManualClock(options: { readonly nowMs?: number; readonly jump?: boolean } = {}): ManualClock {
  const sleepers = new Set<{ dueMs: number; wake: () => void }>();
  const waiters: { count: number; resolve: () => void }[] = [];
  const delaysMs: number[] = [];
  let timeMs = options.nowMs ?? 0;

  function advance(byMs: number): void {
    timeMs += byMs;
    for (const sleeper of sleepers) {
      if (sleeper.dueMs <= timeMs) {
        sleeper.wake();
      }
    }
  }

  return {
    nowMs: () => timeMs,
    monotonicMs: () => timeMs,
    delaysMs,
    advance,
    slept: (count) =>
      new Promise((resolve) => {
        waiters.push({ count, resolve });
        wakeWaiters();
      }),
    sleep: (delayMs, signal) =>
      new Promise((resolve) => {
        const wake = (): void => {
          sleepers.delete(sleeper);
          signal?.removeEventListener("abort", wake);
          resolve();
        };
        const sleeper = { dueMs: timeMs + delayMs, wake };
        sleepers.add(sleeper);
        signal?.addEventListener("abort", wake, { once: true });
        delaysMs.push(delayMs);
        wakeWaiters();
        if (signal?.aborted) {
          wake();
        } else if (options.jump) {
          advance(delayMs);
        }
      }),
  };

  function wakeWaiters(): void {
    for (const waiter of waiters) {
      if (delaysMs.length >= waiter.count) {
        waiter.resolve();
      }
    }
  }
}
