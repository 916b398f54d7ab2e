// Error bodies in each profile, and the status and headers of a failure.

import { Code } from "@connectrpc/connect";
import { ErrorBody, type RestProfile } from "#gen/runnel/options/v1/options_pb.js";
import { styleJson } from "../../platform/base/json/print.ts";
import type { ReasonName } from "../../platform/base/reasons.ts";
import type { Failure } from "./failure.ts";
import { debugFailureBody, debugStatus, jobFailureBody, jobStatus } from "./signing-errors.ts";

/** Returns the JSON of an error body, without the final newline. */
export function printFailure(failure: Failure, profile: RestProfile): string {
  return styleJson(JSON.stringify(failureBody(failure, profile.errorBody)), profile);
}

/** Whether the body ends in a newline. One text of the Agent Runner document does not, and clients may rely on its length. */
export function endsInNewline({ reason }: Failure, { errorBody }: RestProfile): boolean {
  return !(errorBody === ErrorBody.BARE && reason === rateLimited);
}

/** Returns the HTTP status of a failure. Some profiles override it. */
export function statusOfFailure(failure: Failure, { errorBody }: RestProfile): number {
  const override =
    errorBody === ErrorBody.JOBSPEC
      ? jobStatus(failure)
      : errorBody === ErrorBody.CODE
        ? debugStatus(failure)
        : undefined;
  return override ?? failure.httpStatus;
}

/** Whether the service answers without waiting for the rest of the request. */
export function abandonsRequest({ reason }: Failure): boolean {
  return reason === bodyTooLarge || reason === overloaded;
}

/** Returns the headers of the failure itself: `retry-after` in seconds, or no header. */
export function failureHeaders({ retryAfterSeconds }: Failure): Record<string, string> {
  return retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) };
}

const rateLimited = "RATE_LIMITED" satisfies ReasonName;
const bodyTooLarge = "BODY_TOO_LARGE" satisfies ReasonName;
const overloaded = "OVERLOADED" satisfies ReasonName;

function failureBody(failure: Failure, errorBody: ErrorBody): object {
  const { message: error, code, reason } = failure;
  switch (errorBody) {
    case ErrorBody.BARE:
      return { error };
    case ErrorBody.JOBSPEC:
      return jobFailureBody(failure, reason ?? codeNames[code]);
    case ErrorBody.CODE:
      return debugFailureBody(failure, reason ?? codeNames[code]);
    case ErrorBody.UNSPECIFIED:
    case ErrorBody.RUNNEL:
      return { error, code: codeNames[code], reason, details: printableDetails(failure) };
    default:
      return errorBody satisfies never;
  }
}

/** The names of google.rpc.Code, as gRPC documents write them. */
const codeNames: Record<Code, string> = {
  [Code.Canceled]: "CANCELLED",
  [Code.Unknown]: "UNKNOWN",
  [Code.InvalidArgument]: "INVALID_ARGUMENT",
  [Code.DeadlineExceeded]: "DEADLINE_EXCEEDED",
  [Code.NotFound]: "NOT_FOUND",
  [Code.AlreadyExists]: "ALREADY_EXISTS",
  [Code.PermissionDenied]: "PERMISSION_DENIED",
  [Code.ResourceExhausted]: "RESOURCE_EXHAUSTED",
  [Code.FailedPrecondition]: "FAILED_PRECONDITION",
  [Code.Aborted]: "ABORTED",
  [Code.OutOfRange]: "OUT_OF_RANGE",
  [Code.Unimplemented]: "UNIMPLEMENTED",
  [Code.Internal]: "INTERNAL",
  [Code.Unavailable]: "UNAVAILABLE",
  [Code.DataLoss]: "DATA_LOSS",
  [Code.Unauthenticated]: "UNAUTHENTICATED",
};

function printableDetails({ metadata, violations }: Failure): object | undefined {
  const details = {
    ...(Object.keys(metadata).length > 0 ? { metadata } : {}),
    ...(violations.length > 0 ? { violations } : {}),
  };
  return Object.keys(details).length > 0 ? details : undefined;
}
