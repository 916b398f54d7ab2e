// Waits for another process whose changes are only visible by polling. Every wait has a timeout.

import { systemClock } from "../../base/clock.ts";

/** Options of a wait. */
export interface PollOptions {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Polls until `look` returns a value. Returns undefined after the timeout. Throws the signal's reason when it aborts. */
export async function poll<T>(
  look: () => T | undefined | Promise<T | undefined>,
  options: PollOptions,
): Promise<T | undefined> {
  const deadlineMs = systemClock.monotonicMs() + options.timeoutMs;
  for (;;) {
    options.signal?.throwIfAborted();
    const seen = await look();
    if (seen !== undefined) {
      return seen;
    }
    if (systemClock.monotonicMs() >= deadlineMs) {
      return undefined;
    }
    await systemClock.sleep(pollIntervalMs, options.signal);
  }
}

/** A warm start takes 20 to 40 ms, so a longer interval would dominate the wait. */
const pollIntervalMs = 10;
