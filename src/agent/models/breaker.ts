// A circuit breaker for each account at a provider: while the provider fails, no request waits for it or adds to its load.
//
// B1  Closed: requests are sent. The configured number of consecutive failures opens the breaker. A complete response resets
//     the count.
// B2  Open: requests are refused until the reset time has passed.
// B3  Half open: one request at a time is sent. Its first part, or a refusal of the request as such, closes the breaker. A
//     retryable failure opens it again, and a cancelled request leaves its place to the next one.
// B4  Retryable failures count: 408, 429, 5xx and network errors, also in mid-stream. A request that the provider refuses as
//     such (other 4xx) shows that the provider lives, but not that it is healthy. It neither counts nor resets the count.

import type { Clock } from "../../platform/base/clock.ts";
import type { Model, ModelFailure, ModelPart, ModelRequest } from "./model.ts";

/** The state of a circuit breaker. */
export type CircuitState = "closed" | "open" | "half-open";

/** Options of a breaker. */
export interface BreakerOptions {
  readonly clock: Clock;
  readonly failuresMax: number;
  readonly resetMs: number;
  /** Called after every change of state. */
  readonly onChange: (state: CircuitState, failures: number) => void;
}

/** The failure code of requests that an open breaker refuses. */
export const circuitOpenCode = "circuit_open";

/** A circuit breaker; see B1 to B4. */
export class Breaker {
  readonly #options: BreakerOptions;
  #state: CircuitState = "closed";
  #failures = 0;
  #openedAtMs = 0;
  #probing = false;

  constructor(options: BreakerOptions) {
    this.#options = options;
  }

  /** The state in which a request would find the breaker now. */
  get state(): CircuitState {
    return this.#state === "open" && this.retryInMs === 0 ? "half-open" : this.#state;
  }

  /** The number of consecutive failures. */
  get failures(): number {
    return this.#failures;
  }

  /** The milliseconds until a request may be tried; 0 unless the breaker is open. */
  get retryInMs(): number {
    const { clock, resetMs } = this.#options;
    return this.#state === "open" ? Math.max(0, Math.ceil(this.#openedAtMs + resetMs - clock.monotonicMs())) : 0;
  }

  /** Asks to send a request. Returns undefined when the breaker refuses it. */
  enter(): Attempt | undefined {
    if (this.state === "closed") {
      return { report: (sign) => this.#hear(sign) };
    }
    if (this.state === "open" || this.#probing) {
      return undefined;
    }
    this.#probing = true;
    this.#change("half-open");
    // Only the first report concerns the probe. Later reports count as those of any request.
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
  /** Reports `alive` at the first part, then how the request ended: `left` means that the caller stopped waiting. */
  report(sign: Sign): void;
}

/** Returns the same model behind the breaker. While the breaker refuses, a request yields one retryable failure. */
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

/** The failure of a refused request, with the text of the Agent Runner document. */
const refusal: ModelFailure = {
  type: "failure",
  code: circuitOpenCode,
  message: "circuit breaker is open",
  retryable: true,
  retryAfterMs: undefined,
};
