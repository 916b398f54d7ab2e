// Waits for conditions: tests never sleep for a guessed time.

import { setTimeout as delay } from "node:timers/promises";

const pollMs = 20;

/** Resolves with the first value that is not undefined or false; fails with the description after the limit. */
export async function until<T>(
  what: string,
  condition: () => T | undefined | false | Promise<T | undefined | false>,
  limitMs = 60_000,
): Promise<T> {
  const startedMs = performance.now();
  for (;;) {
    const value = await condition();
    if (value !== undefined && value !== false) {
      return value;
    }
    if (performance.now() - startedMs > limitMs) {
      throw new Error(`${what}: not within ${limitMs} ms`);
    }
    await delay(pollMs);
  }
}
