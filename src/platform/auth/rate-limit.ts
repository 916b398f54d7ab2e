// The rate limit of calls: the generic cell rate algorithm, an exact token bucket that stores one number per key. It is local
// to this process; n replicas admit n times as many calls.
//
// R1  The stored state is bounded, regardless of the keys.
// R2  A key that is not stored has a full bucket.

import type { Clock } from "../base/clock.ts";
import { Fault } from "../base/fault.ts";

/** Options of a rate limit. */
export interface RateLimitOptions {
  readonly clock: Clock;
  /** 0 means no limit. */
  readonly requestsPerSecond: number;
  readonly burst: number;
  /** The message of the fault. */
  readonly message?: string;
}

/** The maximum number of stored keys, about 20 MB. Further keys share one bucket. */
const keysMax = 100_000;
const overflowKey = "";
/** The minimum time between two sweeps. A sweep over all keys is slow, so an attacker must not cause one per call. */
const sweepIntervalMs = 1_000;
/** Allows for rounding errors in sums of fractions. */
const roundingMs = 0.001;

/** A token bucket for each key. */
export class RateLimit {
  readonly #clock: Clock;
  readonly #intervalMs: number;
  readonly #toleranceMs: number;
  readonly #message: string;
  /** The time at which each bucket will be full again. */
  readonly #fullAtMs = new Map<string, number>();
  #sweptMs = Number.NEGATIVE_INFINITY;

  constructor({ clock, requestsPerSecond, burst, message = "rate limit exceeded" }: RateLimitOptions) {
    this.#clock = clock;
    this.#message = message;
    this.#intervalMs = requestsPerSecond === 0 ? 0 : 1_000 / requestsPerSecond;
    this.#toleranceMs = this.#intervalMs * (burst - 1);
  }

  /** Takes a token, or throws RATE_LIMITED. */
  take(key: string): void {
    if (this.#intervalMs === 0) {
      return;
    }
    const nowMs = this.#clock.monotonicMs();
    const kept = this.#keep(key, nowMs);
    const fullAtMs = Math.max(this.#fullAtMs.get(kept) ?? nowMs, nowMs);
    const waitMs = fullAtMs - nowMs - this.#toleranceMs;
    if (waitMs > roundingMs) {
      throw new Fault("RATE_LIMITED", this.#message, { retryAfterMs: Math.max(waitMs, 1) });
    }
    this.#fullAtMs.set(kept, fullAtMs + this.#intervalMs);
  }

  /**
   * Returns a function that takes more tokens for a call that has taken its own, ahead of time when the bucket has fewer. It
   * returns the milliseconds until the bucket would have had them. A call waits at most `waitMsMax` in all, and takes at most what
   * a full bucket has by then, so every call is admitted in the end. If the call had to wait longer, the function takes nothing
   * and throws RATE_LIMITED with the time after which the bucket has all tokens for the same call.
   */
  openAdvance(key: string, waitMsMax: number): (tokens: number) => number {
    const intervalMs = this.#intervalMs;
    const tokensMax = Math.floor((this.#toleranceMs + intervalMs + waitMsMax + roundingMs) / intervalMs);
    let taken = 1;
    let waitedMs = 0;
    return (tokens) => {
      const due = Math.min(tokens, tokensMax - taken);
      if (intervalMs === 0 || due === 0) {
        return 0;
      }
      const nowMs = this.#clock.monotonicMs();
      const kept = this.#keep(key, nowMs);
      const fullAtMs = Math.max(this.#fullAtMs.get(kept) ?? nowMs, nowMs) + due * intervalMs;
      const waitMs = Math.max(fullAtMs - nowMs - this.#toleranceMs - intervalMs, 0);
      const lateMs = waitedMs + waitMs - waitMsMax;
      if (lateMs > roundingMs) {
        throw new Fault("RATE_LIMITED", this.#message, { retryAfterMs: lateMs + taken * intervalMs });
      }
      this.#fullAtMs.set(kept, fullAtMs);
      taken += due;
      waitedMs += waitMs;
      return waitMs;
    };
  }

  /** Returns the key itself, or the shared key when there is no space for it. */
  #keep(key: string, nowMs: number): string {
    if (this.#fullAtMs.size < keysMax || this.#fullAtMs.has(key)) {
      return key;
    }
    if (nowMs - this.#sweptMs >= sweepIntervalMs) {
      this.#sweptMs = nowMs;
      this.#dropFull(nowMs);
    }
    return this.#fullAtMs.size < keysMax ? key : overflowKey;
  }

  #dropFull(nowMs: number): void {
    for (const [key, fullAtMs] of this.#fullAtMs) {
      if (fullAtMs <= nowMs) {
        this.#fullAtMs.delete(key);
      }
    }
  }
}
