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

/** One timer of Node lasts 25 days at most; a longer one would end at once. */
const timerMsMax = 2 ** 31 - 1;

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
