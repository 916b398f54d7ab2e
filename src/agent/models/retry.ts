// Retries of a model's response. R1: only a retryable failure before anything was said is retried; what was emitted is never
// emitted twice. R2: a wait longer than `parkAfterMs` is not sat out here: the failure goes on with its retryAfterMs.

import type { Clock } from "../../platform/base/clock.ts";
import { circuitOpenCode } from "./breaker.ts";
import type { Model, ModelFailure, ModelPart, ModelRequest } from "./model.ts";

export interface RetryOptions {
  readonly clock: Clock;
  /** The wait before the first retry; it doubles with each one. */
  readonly baseDelayMs: number;
  /** Requests in all, the first one included. */
  readonly attemptsMax: number;
  /** In [0, 1), as Math.random. */
  readonly random: () => number;
}

export const retryDefaults = { baseDelayMs: 1000, attemptsMax: 4 } as const;

/** Backing off longer than this helps nobody who waits for the answer. */
export const delayMaxMs = 30_000;

/** A run that has to wait longer than this is better parked than kept in memory. */
export const parkAfterMs = 5000;

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
      // Figures and halves of calls say nothing that could be said twice.
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

/** How long to wait before the next attempt; undefined when there is none. */
function planRetry(failure: ModelFailure, attempt: number, options: RetryOptions): number | undefined {
  const askedMs = failure.retryAfterMs ?? 0;
  // A breaker that is open stays so for longer than any retry waits, and its callers want to know at once.
  const isHopeless = !failure.retryable || failure.code === circuitOpenCode;
  if (isHopeless || attempt >= options.attemptsMax || askedMs > parkAfterMs) {
    return undefined;
  }
  // ±20 %, so that runs that failed together do not come back together.
  const spread = 0.8 + 0.4 * options.random();
  return Math.max(askedMs, Math.min(delayMaxMs, options.baseDelayMs * 2 ** (attempt - 1) * spread));
}
