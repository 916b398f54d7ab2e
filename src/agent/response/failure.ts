// How a run ends when its model gives no response.

import type { DriverEnd, FailedEnd, ParkedEnd, RunContext } from "../../engine/runs/driver.ts";
import type { Events } from "../../platform/telemetry/events.ts";
import { type UsageTotals, usageMessage } from "../budget/usage.ts";
import { parkAfterMs } from "../models/retry.ts";
import type { NoResponse } from "./respond.ts";

export interface FailureOptions {
  readonly context: Pick<RunContext, "runId">;
  readonly events: Pick<Events, "budgetReached">;
  /** All that the run has used. */
  readonly usage: UsageTotals;
  /** Changes the message of a model's failure; unset leaves it. */
  readonly describe?: (message: string) => string;
}

/** Fails the run, and says whether another try may succeed. */
export function failWithoutResponse({ why }: NoResponse, options: FailureOptions): FailedEnd {
  const { context, events, describe = (message) => message } = options;
  const usage = usageMessage(options.usage);
  if (why === "aborted") {
    return { ...stopped, usage };
  }
  if ("budget" in why) {
    events.budgetReached({ runId: context.runId, budget: why.budget });
    return { ...failed(why.message), code: "runner.budget_exceeded", usage };
  }
  return { ...failed(describe(why.message)), retryable: why.retryable, usage };
}

/** Parks the run if its provider asks for a long pause, so that nothing is held meanwhile; otherwise fails it. */
export function parkOrFail(
  response: NoResponse,
  { checkpoint, ...options }: FailureOptions & { readonly checkpoint: () => ParkedEnd["checkpoint"] },
): DriverEnd {
  const { why, spoke } = response;
  if (why !== "aborted" && !("budget" in why) && (why.retryAfterMs ?? 0) > parkAfterMs && !spoke) {
    return { kind: "parked", reason: why.message, wakeInMs: why.retryAfterMs, checkpoint: checkpoint() };
  }
  return failWithoutResponse(response, options);
}

export function failed(error: string): FailedEnd {
  return { kind: "failed", code: "runner.error", error, retryable: false };
}

/** The supervisor knows why the run was stopped and ends it accordingly. */
export const stopped: FailedEnd = failed("context canceled");
