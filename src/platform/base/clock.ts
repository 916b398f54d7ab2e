// The clock as a port, so that a test can control time. Wall time is for values that people read; monotonic time is for limits.

/** The source of time for every component. */
export interface Clock {
  /** Wall time, milliseconds since 1970. */
  nowMs(): number;
  /** Monotonic time in milliseconds: it never goes back, and its zero is arbitrary. */
  monotonicMs(): number;
  /** Resolves after `delayMs`, or at once when the signal aborts; the caller then checks the signal. Never rejects. */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>;
}

/** The reason of an abort that only ends a wait. Without a reason, Node creates an exception with a stack for each abort. */
export const over = Symbol("over");

/** The maximum delay of a Node timer, in milliseconds (25 days). A longer timer would fire at once. */
export const timerMsMax = 2 ** 31 - 1;

/** The clock of this machine. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleep: (delayMs, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) {
        resolve();
        return;
      }
      const finish = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", finish);
        resolve();
      };
      const arm = (leftMs: number): NodeJS.Timeout =>
        leftMs > timerMsMax
          ? setTimeout(() => (timer = arm(leftMs - timerMsMax)), timerMsMax)
          : setTimeout(finish, leftMs);
      let timer = arm(delayMs);
      signal?.addEventListener("abort", finish, { once: true });
    }),
};

const alignmentMs = 500;
/** A timer fires within this time of its end: a loop that is called so much early does not wait for the same half second again. */
const toleranceMs = 2;

/**
 * Returns the longest delay up to `delayMs` that ends on a common half second: loops that have nothing to do wake the process together,
 * and not one after another. A shorter delay stays as it is.
 */
export function alignedDelay(clock: Pick<Clock, "monotonicMs">, delayMs: number): number {
  if (delayMs < alignmentMs) {
    return delayMs;
  }
  const nowMs = clock.monotonicMs();
  const endMs = Math.floor((nowMs + delayMs + toleranceMs) / alignmentMs) * alignmentMs;
  return Math.ceil(endMs - nowMs);
}

/** A day in milliseconds. */
export const dayMs = 86_400_000;
