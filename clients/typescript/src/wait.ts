// Waiting between attempts, and the two ends that a caller may set for a call: a signal and a deadline.

import { RunnelError, readRetryAfterMs } from "./error.ts";

/** The ends of a call. */
export interface CallLimits {
  /** Cancels the call. */
  readonly signal?: AbortSignal | undefined;
  /** The deadline of the whole call, over all attempts; unset means none. */
  readonly timeoutMs?: number | undefined;
}

const delayMinMs = 200;
const delayMaxMs = 10_000;

/** The waits between attempts: twice as long after each that brought nothing. Many clients shall not return at one moment. */
export class Backoff {
  #delayMs = delayMinMs;

  /** The next wait after this failure, in milliseconds: at least as long as the service says. */
  next(failure: unknown): number {
    const delayMs = this.#delayMs * (0.9 + 0.2 * Math.random());
    this.#delayMs = Math.min(this.#delayMs * 2, delayMaxMs);
    return readRetryAfterMs(failure) ?? delayMs;
  }

  /** An attempt brought something. */
  reset(): void {
    this.#delayMs = delayMinMs;
  }
}

/** The end of one call, by its caller or its deadline. */
export class Deadline {
  readonly signal: AbortSignal;
  readonly #callerSignal: AbortSignal | undefined;

  constructor({ signal, timeoutMs }: CallLimits) {
    this.#callerSignal = signal;
    const signals = [signal, timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs)];
    this.signal = AbortSignal.any(signals.filter((each) => each !== undefined));
  }

  /** Throws when the call shall end. */
  check(): void {
    if (this.#callerSignal?.aborted) {
      throw new RunnelError("CANCELLED", "the caller has cancelled the call", { cause: this.#callerSignal.reason });
    }
    if (this.signal.aborted) {
      throw new RunnelError("DEADLINE_EXCEEDED", "the deadline of the call has passed", { cause: this.signal.reason });
    }
  }

  /** Waits. Throws when the call shall end before. */
  async wait(delayMs: number): Promise<void> {
    await pause(delayMs, this.signal);
    this.check();
  }
}

/** Resolves after the time, or when the signal aborts. */
export async function pause(delayMs: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) {
    return;
  }
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, delayMs);
  const stop = (): void => resolve();
  signal.addEventListener("abort", stop, { once: true });
  await promise;
  clearTimeout(timer);
  signal.removeEventListener("abort", stop);
}
