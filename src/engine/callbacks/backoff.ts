// The backoff of a session's callbacks: one second after the first failure, doubled each time, up to ten minutes.

const firstMs = 1_000;
const longestMs = 600_000;
/** Random jitter, as a share of the wait: hosts that come back do not get all callbacks at once. */
const jitter = 0.2;

/** Returns the wait after so many attempts, in milliseconds. `random` is from 0 to 1. */
export function backoffMs(attempts: number, random: number): number {
  const plainMs = Math.min(longestMs, firstMs * 2 ** (attempts - 1));
  return Math.round(plainMs * (1 - jitter + 2 * jitter * random));
}
