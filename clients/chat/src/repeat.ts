// Repeats calls until one succeeds: 0.2 s after the first failure, then twice as long each time, up to 10 s.

import { ChatError, isTransient } from "./error.ts";

const delayMinMs = 200;
const delayMaxMs = 10_000;
/** A callee may ask for a longer wait, which has to end while its visitor is there. */
const askedMaxMs = 60_000;

/** The waits between attempts. Many pages shall not return at one moment. */
export class Backoff {
  #delayMs = delayMinMs;

  /** Waits after this failure, and as long as the callee asked for. Resolves early when the signal aborts. */
  async wait(failure: unknown, signal: AbortSignal): Promise<void> {
    const ownMs = this.#delayMs * (0.9 + 0.2 * Math.random());
    this.#delayMs = Math.min(this.#delayMs * 2, delayMaxMs);
    const askedMs = failure instanceof ChatError ? (failure.retryAfterMs ?? 0) : 0;
    await pause(Math.max(ownMs, Math.min(askedMs, askedMaxMs)), signal);
  }

  /** An attempt brought something. */
  reset(): void {
    this.#delayMs = delayMinMs;
  }
}

/** Resolves with the answer. Throws what does not pass, and the reason of the signal. `onFailure` hears of each lost attempt. */
export async function repeat<T>(call: () => Promise<T>, signal: AbortSignal, onFailure: () => void): Promise<T> {
  const backoff = new Backoff();
  for (;;) {
    try {
      return await call();
    } catch (error) {
      signal.throwIfAborted();
      if (!isTransient(error)) {
        throw error;
      }
      onFailure();
      await backoff.wait(error, signal);
      signal.throwIfAborted();
    }
  }
}

/** Ends early when the signal aborts, and when the browser is online again. */
async function pause(delayMs: number, signal: AbortSignal): Promise<void> {
  const over = new AbortController();
  await new Promise<unknown>((resolve) => {
    const timer = setTimeout(resolve, delayMs);
    over.signal.addEventListener("abort", () => clearTimeout(timer));
    const options = { once: true, signal: over.signal };
    signal.addEventListener("abort", resolve, options);
    addEventListener("online", resolve, options);
  });
  over.abort();
}
