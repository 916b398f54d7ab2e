// A circuit breaker per account at a provider: while it fails, nobody waits for it and nobody adds to its load.
//
// B1  Closed: requests go out. As many failures in a row as the limit says open it; a response that comes to its end clears
//     the count.
// B2  Open: requests are refused until the reset time has passed.
// B3  Half open: one request at a time goes out. The first sign of life closes the breaker, a failure opens it again, and
//     a request that was cancelled leaves the place to the next one.
// B4  What speaks against a provider is 429, 5xx and the network, in mid-stream too. A request that it refuses for what
//     it is (other 4xx) shows that the provider lives, but no health either: it neither counts nor clears the count.

import type { Clock } from "../../platform/base/clock.ts";
import type { Model, ModelFailure, ModelPart, ModelRequest } from "./model.ts";

export type CircuitState = "closed" | "open" | "half-open";

export interface BreakerOptions {
  readonly clock: Clock;
  readonly failuresMax: number;
  readonly resetMs: number;
  /** Hears of every change. */
  readonly onChange: (state: CircuitState, failures: number) => void;
}

export const circuitOpenCode = "circuit_open";

export class Breaker {
  readonly #options: BreakerOptions;
  #state: CircuitState = "closed";
  #failures = 0;
  #openedAtMs = 0;
  #probing = false;

  constructor(options: BreakerOptions) {
    this.#options = options;
  }

  /** As it would treat a request now. */
  get state(): CircuitState {
    return this.#state === "open" && this.retryInMs === 0 ? "half-open" : this.#state;
  }

  get failures(): number {
    return this.#failures;
  }

  /** Until a request may try; 0 unless it is open. */
  get retryInMs(): number {
    const { clock, resetMs } = this.#options;
    return this.#state === "open" ? Math.max(0, Math.ceil(this.#openedAtMs + resetMs - clock.monotonicMs())) : 0;
  }

  /** Asks to send a request; undefined is a refusal. */
  enter(): Attempt | undefined {
    if (this.state === "closed") {
      return { report: (sign) => this.#hear(sign) };
    }
    if (this.state === "open" || this.#probing) {
      return undefined;
    }
    this.#probing = true;
    this.#change("half-open");
    // Only its first word is about the probe; what comes later is as of any request.
    let isProbe = true;
    return {
      report: (sign) => {
        isProbe ? this.#hearProbe(sign) : this.#hear(sign);
        isProbe = false;
      },
    };
  }

  #hear(sign: Sign): void {
    if (sign === "well") {
      this.#failures = 0;
    } else if (sign === "ill") {
      this.#failures++;
      if (this.#state === "closed" && this.#failures >= this.#options.failuresMax) {
        this.#open();
      }
    }
  }

  #hearProbe(sign: Sign): void {
    this.#probing = false;
    if (sign === "ill") {
      this.#failures++;
      this.#open();
    } else if (sign !== "left") {
      this.#failures = 0;
      this.#change("closed");
    }
  }

  #open(): void {
    this.#openedAtMs = this.#options.clock.monotonicMs();
    this.#change("open");
  }

  #change(state: CircuitState): void {
    if (this.#state !== state) {
      this.#state = state;
      this.#options.onChange(state, this.#failures);
    }
  }
}

type Sign = "alive" | "well" | "ill" | "refused" | "left";

interface Attempt {
  /** `alive` at the first part, then one of the others: how it ended, or `left` when nobody waited for that. */
  report(sign: Sign): void;
}

export function withBreaker(model: Model, breaker: Breaker): Model {
  return { ...model, stream: (request, signal) => guard(model, breaker, request, signal) };
}

async function* guard(
  model: Model,
  breaker: Breaker,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<ModelPart> {
  const attempt = breaker.enter();
  if (attempt === undefined) {
    yield refusal;
    return;
  }
  let sign: Sign = "left";
  let alive = false;
  try {
    for await (const part of model.stream(request, signal)) {
      if (part.type === "failure") {
        sign = part.retryable ? "ill" : "refused";
      } else if (!alive) {
        alive = true;
        attempt.report("alive");
      }
      sign = part.type === "finish" ? "well" : sign;
      yield part;
    }
  } finally {
    attempt.report(sign);
  }
}

/** The words of the Agent Runner document. */
const refusal: ModelFailure = {
  type: "failure",
  code: circuitOpenCode,
  message: "circuit breaker is open",
  retryable: true,
  retryAfterMs: undefined,
};
