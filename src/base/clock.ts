// Time behind a port, so that a test can move it. Wall time is for what people read; monotonic time is for limits.

export interface Clock {
  /** Wall time, milliseconds since 1970. */
  nowMs(): number;
  /** Never goes back; the zero is arbitrary. */
  monotonicMs(): number;
  /** Resolves after `delayMs`, or at once when the signal aborts: the caller looks at the signal. Never rejects. */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>;
}

/** Reason of an abort that only ends a wait. Without a reason Node makes an exception each time, with its stack. */
export const over = Symbol("over");

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
      const timer = setTimeout(finish, delayMs);
      signal?.addEventListener("abort", finish, { once: true });
    }),
};
