// How long a session's callbacks wait after a failure: a second, and twice as long each time, up to ten minutes.

const firstMs = 1_000;
const longestMs = 600_000;
/** Hosts that come back are not met by everybody at once. */
const jitter = 0.2;

/** `random` is from 0 to 1. */
export function backoffMs(attempts: number, random: number): number {
  const plainMs = Math.min(longestMs, firstMs * 2 ** (attempts - 1));
  return Math.round(plainMs * (1 - jitter + 2 * jitter * random));
}
