// Converts every error to one `Failure`: a Fault of the gateway, a ConnectError of the called method, or an unexpected error,
// whose cause stays hidden. The reason decides the HTTP status; without one the Connect code decides.

import { ConnectError } from "@connectrpc/connect";
import { BadRequestSchema, ErrorInfoSchema, RetryInfoSchema } from "#gen/google/rpc/error_details_pb.js";
import type { Failure } from "../../platform/base/error-form.ts";
import { Fault } from "../../platform/base/fault.ts";
import { codeStatuses, type ReasonName } from "../../platform/base/reasons.ts";

/** Converts an error to a failure. An unexpected error becomes INTERNAL. */
export function describeFailure(error: unknown): Failure {
  if (error instanceof ConnectError) {
    return describeConnectError(error);
  }
  return describeFault(error instanceof Fault && error.reason !== "INTERNAL" ? error : internal);
}

/** Whether an error is unexpected and must be reported. Errors of the called method are not: its own interceptors saw them. */
export function isUnexpected(error: unknown): boolean {
  return !(error instanceof ConnectError) && (!(error instanceof Fault) || error.reason === "INTERNAL");
}

/** Returns whether a call failed for one of these reasons. */
export function isReason(error: unknown, ...reasons: readonly ReasonName[]): boolean {
  const { reason } = describeFailure(error);
  return reasons.some((each) => each === reason);
}

const internal = new Fault("INTERNAL", "internal error");

function describeFault(fault: Fault): Failure {
  return {
    httpStatus: fault.httpStatus,
    code: fault.code,
    message: fault.message,
    reason: fault.reason,
    metadata: fault.metadata,
    violations: fault.violations,
    ...(fault.retryAfterMs === undefined ? {} : { retryAfterSeconds: toWholeSeconds(fault.retryAfterMs / 1_000) }),
  };
}

function describeConnectError(error: ConnectError): Failure {
  const [info] = error.findDetails(ErrorInfoSchema);
  const [retry] = error.findDetails(RetryInfoSchema);
  const violations = error.findDetails(BadRequestSchema).flatMap(({ fieldViolations }) => fieldViolations);
  const delay = retry?.retryDelay;
  return {
    // The router keeps the fault of a call as the cause of its error.
    httpStatus: error.cause instanceof Fault ? error.cause.httpStatus : codeStatuses[error.code],
    code: error.code,
    message: error.rawMessage,
    ...(info === undefined ? {} : { reason: info.reason }),
    metadata: info?.metadata ?? {},
    violations: violations.map(({ field, description }) => ({ field, description })),
    ...(delay === undefined ? {} : { retryAfterSeconds: toWholeSeconds(Number(delay.seconds) + delay.nanos / 1e9) }),
  };
}

/** Rounds up to whole seconds, at least 1: some clients retry at once, again and again, after 0. */
function toWholeSeconds(seconds: number): number {
  return Math.max(1, Math.ceil(seconds));
}
