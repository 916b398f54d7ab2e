// Asks the provider of a model for the input tokens of a request.

import { type Clock, over } from "../../platform/base/clock.ts";
import type { Model, ModelRequest } from "./model.ts";
import { findFailure } from "./wire/failures.ts";

/** The time limit. A caller that waits longer is better served by an estimate. */
export const countLimitMs = 5_000;

/** Returns the provider's own count; undefined when it has none, fails or is late. */
export async function askForCount(
  { count }: Pick<Model, "count">,
  request: ModelRequest,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<number | undefined> {
  const late = new AbortController();
  const done = new AbortController();
  void clock.sleep(countLimitMs, done.signal).then(() => late.abort(over));
  const stop = AbortSignal.any([signal, late.signal]);
  try {
    return await count?.(request, stop);
  } catch (error) {
    if (findFailure(error) === undefined && !stop.aborted && !(error instanceof Error && "code" in error)) {
      throw error;
    }
    return undefined;
  } finally {
    done.abort(over);
  }
}
