// A circuit breaker: while requests fail, no request waits for the provider or adds to its load.
//
// B1  Closed: requests are sent. The configured number of failures opens the breaker.
// B2  Open: requests are refused until the reset time has passed.
// B3  Half open: one request at a time is sent, the probe. Its failure opens the breaker again. A probe that the caller left
//     leaves its place to the next request.
//
// A breaker never closes: its owner forgets it when the provider answers (`circuits.ts`).

import type { Clock } from "../../platform/base/clock.ts";

/** The state of a circuit breaker. */
export type CircuitState = "closed" | "open" | "half-open";

/** Options of a breaker. */
export interface BreakerOptions {
  readonly clock: Clock;
  readonly failuresMax: number;
  readonly resetMs: number;
}

/** The failure code of requests that an open breaker refuses. */
export const circuitOpenCode = "circuit_open";

/** A circuit breaker; see B1 to B3. */
export class Breaker {
  readonly #options: BreakerOptions;
  #failures = 0;
  #openedAtMs: number | undefined;
  #probing = false;

  constructor(options: BreakerOptions) {
    this.#options = options;
  }

  /** The state in which a request would find the breaker now. */
  get state(): CircuitState {
    if (this.#openedAtMs === undefined) {
      return "closed";
    }
    return this.retryInMs > 0 ? "open" : "half-open";
  }

  /** The number of failures. */
  get failures(): number {
    return this.#failures;
  }

  /** The milliseconds until a request may be tried; 0 unless the breaker is open. */
  get retryInMs(): number {
    const { clock, resetMs } = this.#options;
    const openedAtMs = this.#openedAtMs ?? Number.NEGATIVE_INFINITY;
    return Math.max(0, Math.ceil(openedAtMs + resetMs - clock.monotonicMs()));
  }

  /** Returns a breaker of its own in the same state, without the probe. */
  copy(): Breaker {
    const copy = new Breaker(this.#options);
    copy.#failures = this.#failures;
    copy.#openedAtMs = this.#openedAtMs;
    return copy;
  }

  /** Takes the place of the probe. Returns false unless the breaker is half open and the place is free. */
  probe(): boolean {
    const isFree = this.state === "half-open" && !this.#probing;
    this.#probing ||= isFree;
    return isFree;
  }

  /** Frees the place of the probe. */
  leaveProbe(): void {
    this.#probing = false;
  }

  /** Counts a failure. Returns true when it opened the breaker. */
  fail({ isProbe }: { readonly isProbe: boolean }): boolean {
    this.#failures++;
    const opens = isProbe || (this.#openedAtMs === undefined && this.#failures >= this.#options.failuresMax);
    if (opens) {
      this.open(this.#failures);
    }
    return opens;
  }

  /** Opens the breaker because of so many failures. */
  open(failures: number): void {
    this.#failures = failures;
    this.#probing = false;
    this.#openedAtMs = this.#options.clock.monotonicMs();
  }
}
