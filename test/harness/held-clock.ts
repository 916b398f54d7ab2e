// A clock that runs as usual except for sleeps of one length, which last until the test ends them.

import { type Clock, systemClock } from "../../src/platform/base/clock.ts";

export interface HeldClock {
  readonly clock: Clock;
  /** Ends every pending sleep of that length. */
  pass(): void;
}

export function createHeldClock(heldMs: number): HeldClock {
  const held = new Set<() => void>();
  const clock: Clock = {
    ...systemClock,
    sleep: async (delayMs, signal) => {
      if (delayMs !== heldMs) {
        return await systemClock.sleep(delayMs, signal);
      }
      const { promise, resolve } = Promise.withResolvers<void>();
      held.add(resolve);
      signal?.addEventListener("abort", () => resolve(), { once: true });
      if (signal?.aborted === true) {
        resolve();
      }
      await promise;
      held.delete(resolve);
    },
  };
  return {
    clock,
    pass: () => {
      for (const resolve of held) {
        resolve();
      }
    },
  };
}
