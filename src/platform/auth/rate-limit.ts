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
   * Takes more tokens for a call that was admitted, ahead of time when the bucket has fewer. Returns the milliseconds until the
   * bucket would have had them. Takes nothing and throws RATE_LIMITED when that would be more than `waitMsMax`.
   */
  takeAhead(key: string, tokens: number, waitMsMax: number): number {
    if (this.#intervalMs === 0 || tokens === 0) {
      return 0;
    }
    const nowMs = this.#clock.monotonicMs();
    const kept = this.#keep(key, nowMs);
    const fullAtMs = Math.max(this.#fullAtMs.get(kept) ?? nowMs, nowMs) + tokens * this.#intervalMs;
    const waitMs = Math.max(fullAtMs - nowMs - this.#toleranceMs - this.#intervalMs, 0);
    if (waitMs > waitMsMax) {
      throw new Fault("RATE_LIMITED", this.#message, { retryAfterMs: waitMs });
    }
    this.#fullAtMs.set(kept, fullAtMs);
    return waitMs;
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
