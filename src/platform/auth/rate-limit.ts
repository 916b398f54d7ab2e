// How often somebody may call: the generic cell rate algorithm, which is an exact token bucket in one number per key.
// Kept in this process; a cluster of n replicas lets n times as much through.
//
// R1  What is kept is bounded, whatever keys come.
// R2  A key that is not kept has a full bucket.

import type { Clock } from "../base/clock.ts";
import { Fault } from "../base/fault.ts";

export interface RateLimitOptions {
  readonly clock: Clock;
  /** 0 means no limit. */
  readonly requestsPerSecond: number;
  readonly burst: number;
  /** What is said of it. */
  readonly message?: string;
}

/** About 20 MB of keys. Whoever makes more of them shares one bucket. */
const keysMax = 100_000;
const overflowKey = "";
/** Looking through all keys takes a while, so an attacker must not make us do it for each of its calls. */
const sweepIntervalMs = 1_000;
/** Sums of fractions are not exact. */
const roundingMs = 0.001;

export class RateLimit {
  readonly #clock: Clock;
  readonly #intervalMs: number;
  readonly #toleranceMs: number;
  readonly #message: string;
  /** When each bucket will be full again. */
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

  /** The key itself, or the shared one when there is no room for it. */
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
