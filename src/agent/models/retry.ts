// Retries a model's response.
//
// R1  Only a retryable failure before the first output is retried, so that no output is ever emitted twice.
// R2  When the provider asks for a wait longer than `parkAfterMs`, the failure is passed on with its `retryAfterMs`.

import type { Clock } from "../../platform/base/clock.ts";
import { circuitOpenCode } from "./breaker.ts";
import type { Model, ModelFailure, ModelPart, ModelRequest } from "./model.ts";

/** Options of the retries. */
export interface RetryOptions {
  readonly clock: Clock;
  /** The wait before the first retry; it doubles with each retry. */
  readonly baseDelayMs: number;
  /** The maximum number of requests, including the first one. */
  readonly attemptsMax: number;
  /** Returns a number in [0, 1), like `Math.random`. */
  readonly random: () => number;
}

/** The default options. */
export const retryDefaults = { baseDelayMs: 1000, attemptsMax: 4 } as const;

/** The maximum backoff. A longer wait does not help a client that waits for the answer. */
export const delayMaxMs = 30_000;

/** The longest wait that a provider may ask for in a run. A run that must wait longer is parked instead of kept in memory. */
export const parkAfterMs = 5000;

/** Returns the same model with retries. */
export function withRetry(model: Model, options: RetryOptions): Model {
  return { ...model, stream: (request, signal) => streamWithRetries(model, options, request, signal) };
}

async function* streamWithRetries(
  model: Model,
  options: RetryOptions,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<ModelPart> {
  for (let attempt = 1; ; attempt++) {
    let delayMs: number | undefined;
    let emitted = false;
    for await (const part of model.stream(request, signal)) {
      delayMs = part.type === "failure" && !emitted ? planRetry(part, attempt, options) : undefined;
      if (delayMs !== undefined) {
        break;
      }
      // Usage figures and pieces of calls may be emitted again without harm.
      emitted ||= part.type !== "usage" && part.type !== "call-piece";
      yield part;
    }
    if (delayMs === undefined) {
      return;
    }
    await options.clock.sleep(delayMs, signal);
    if (signal.aborted) {
      return;
    }
  }
}

/** Returns the wait before the next attempt, or undefined when the failure is final. */
function planRetry(failure: ModelFailure, attempt: number, options: RetryOptions): number | undefined {
  const askedMs = failure.retryAfterMs ?? 0;
  // An open breaker stays open longer than any retry waits, and its clients need the answer at once.
  const isHopeless = !failure.retryable || failure.code === circuitOpenCode;
  if (isHopeless || attempt >= options.attemptsMax || askedMs > parkAfterMs) {
    return undefined;
  }
  // ±20 %, so that runs that failed together do not retry together.
  const spread = 0.8 + 0.4 * options.random();
  return Math.max(askedMs, Math.min(delayMaxMs, options.baseDelayMs * 2 ** (attempt - 1) * spread));
}
