// Decides how a run ends when its model gives no response.

import { ModelError_Cause } from "#gen/runnel/v1/result_pb.js";
import type { DriverEnd, FailedEnd, ParkedEnd, RunContext } from "../../engine/runs/driver.ts";
import type { Events } from "../../platform/telemetry/events.ts";
import { type UsageTotals, usageMessage } from "../budget/usage.ts";
import type { FailureCause, ModelFailure } from "../models/model.ts";
import { parkAfterMs } from "../models/retry.ts";
import type { NoResponse } from "./respond.ts";

/** The run, its usage and how to word a failure. */
export interface FailureOptions {
  readonly context: Pick<RunContext, "runId">;
  readonly events: Pick<Events, "budgetReached">;
  /** The total usage of the run. */
  readonly usage: UsageTotals;
  /** Changes the message of a model's failure. Unset keeps the message. */
  readonly describe?: (message: string) => string;
}

/** Fails the run. The result says whether a retry may succeed. */
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
  return { ...failed(describe(why.message)), retryable: why.retryable, modelError: modelErrorOf(why), usage };
}

/**
 * Parks the run when its provider asks for a long pause, so that the run holds nothing meanwhile. Otherwise fails it, as it does
 * when no pause would help.
 */
export function parkOrFail(
  response: NoResponse,
  { checkpoint, ...options }: FailureOptions & { readonly checkpoint: () => ParkedEnd["checkpoint"] },
): DriverEnd {
  const { why, spoke } = response;
  if (why !== "aborted" && !("budget" in why) && why.retryable && (why.retryAfterMs ?? 0) > parkAfterMs && !spoke) {
    return { kind: "parked", reason: why.message, wakeInMs: why.retryAfterMs, checkpoint: checkpoint() };
  }
  return failWithoutResponse(response, options);
}

/** Returns the end of a run whose response the provider withheld. */
export function withheld(detail: string | undefined): FailedEnd {
  const why = failed(`the provider withheld the response: ${detail ?? "content filter"}`);
  return { ...why, modelError: { cause: ModelError_Cause.CONTENT_FILTER } };
}

function modelErrorOf({
  cause,
  status = 0,
  providerCode = "",
  retryAfterMs = 0,
}: ModelFailure): FailedEnd["modelError"] {
  return {
    cause: causes[cause],
    status,
    code: providerCode.slice(0, providerCodeCharsMax).toWellFormed(),
    retryAfterMs: BigInt(Math.ceil(retryAfterMs)),
  };
}

/** The words of providers are short; a proxy could send anything. */
const providerCodeCharsMax = 128;

const causes: Readonly<Record<FailureCause, ModelError_Cause>> = {
  rate_limit: ModelError_Cause.RATE_LIMIT,
  context_length: ModelError_Cause.CONTEXT_LENGTH,
  authentication: ModelError_Cause.AUTHENTICATION,
  quota: ModelError_Cause.QUOTA,
  overloaded: ModelError_Cause.OVERLOADED,
  content_filter: ModelError_Cause.CONTENT_FILTER,
  invalid_request: ModelError_Cause.INVALID_REQUEST,
  not_found: ModelError_Cause.NOT_FOUND,
  timeout: ModelError_Cause.TIMEOUT,
  unavailable: ModelError_Cause.UNAVAILABLE,
};

/** Returns a failed end with the given message. It is not retryable. */
export function failed(error: string): FailedEnd {
  return { kind: "failed", code: "runner.error", error, retryable: false };
}

/** The end of a stopped run. The supervisor knows why the run was stopped and writes the actual end. */
export const stopped: FailedEnd = failed("context canceled");
