// Failures as REST shows them. Whatever was thrown becomes one `Failure`: a Fault of the gateway, a ConnectError of the
// called method, or an unexpected error, of which a caller learns nothing. The status follows the reason where there is
// one we know, and the Connect code where there is none.

import { Code, ConnectError } from "@connectrpc/connect";
import { BadRequestSchema, ErrorInfoSchema, RetryInfoSchema } from "#gen/google/rpc/error_details_pb.js";
import { ErrorBody, type RestProfile } from "#gen/runnel/options/v1/options_pb.js";
import { Fault, type FieldViolation, type ReasonName, reasons } from "../../base/fault.ts";
import { styleJson } from "./json-print.ts";
import { debugStatus, jobStatus, presentDebugFailure, presentJobFailure } from "./signing-errors.ts";

export interface Failure {
  readonly httpStatus: number;
  readonly code: Code;
  readonly message: string;
  readonly reason?: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly violations: readonly FieldViolation[];
  readonly retryAfterSeconds?: number;
}

export function describeFailure(error: unknown): Failure {
  if (error instanceof ConnectError) {
    return describeConnectError(error);
  }
  return describeFault(error instanceof Fault && error.reason !== "INTERNAL" ? error : internal);
}

/** Whether nobody planned the failure. What a method failed with is no longer our news: its own interceptors saw it. */
export function isUnexpected(error: unknown): boolean {
  return !(error instanceof ConnectError) && (!(error instanceof Fault) || error.reason === "INTERNAL");
}

/** The JSON of an error body, without the final newline. */
export function printFailure(failure: Failure, profile: RestProfile): string {
  return styleJson(JSON.stringify(presentFailure(failure, profile.errorBody)), profile);
}

/**
 * Whether the body ends in a newline. One text of the Agent Runner document does not, and clients may know its length.
 */
export function endsInNewline({ reason }: Failure, { errorBody }: RestProfile): boolean {
  return !(errorBody === ErrorBody.BARE && reason === rateLimited);
}

/** The status of a failure, which some services have others for. */
export function statusOfFailure(failure: Failure, { errorBody }: RestProfile): number {
  const override =
    errorBody === ErrorBody.JOBSPEC
      ? jobStatus(failure)
      : errorBody === ErrorBody.CODE
        ? debugStatus(failure)
        : undefined;
  return override ?? failure.httpStatus;
}

/** Whether the rest of the request is not worth waiting for. */
export function abandonsRequest({ reason }: Failure): boolean {
  return reason === bodyTooLarge || reason === overloaded;
}

/** The headers that belong to the failure itself. */
export function failureHeaders({ retryAfterSeconds }: Failure): Record<string, string> {
  return retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) };
}

const rateLimited = "RATE_LIMITED" satisfies ReasonName;
const bodyTooLarge = "BODY_TOO_LARGE" satisfies ReasonName;
const overloaded = "OVERLOADED" satisfies ReasonName;

function presentFailure(failure: Failure, errorBody: ErrorBody): object {
  const { message: error, code, reason } = failure;
  switch (errorBody) {
    case ErrorBody.BARE:
      return { error };
    case ErrorBody.JOBSPEC:
      return presentJobFailure(failure, reason ?? codeNames[code]);
    case ErrorBody.CODE:
      return presentDebugFailure(failure, reason ?? codeNames[code]);
    case ErrorBody.UNSPECIFIED:
    case ErrorBody.RUNNEL:
      return { error, code: codeNames[code], reason, details: printableDetails(failure) };
    default:
      return errorBody satisfies never;
  }
}

const internal = new Fault("INTERNAL", "internal error");

/** Names of google.rpc.Code, as gRPC documents write them. */
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

const codeStatuses: Record<Code, number> = {
  [Code.Canceled]: 499,
  [Code.Unknown]: 500,
  [Code.InvalidArgument]: 400,
  [Code.DeadlineExceeded]: 504,
  [Code.NotFound]: 404,
  [Code.AlreadyExists]: 409,
  [Code.PermissionDenied]: 403,
  [Code.ResourceExhausted]: 429,
  [Code.FailedPrecondition]: 400,
  [Code.Aborted]: 409,
  [Code.OutOfRange]: 400,
  [Code.Unimplemented]: 501,
  [Code.Internal]: 500,
  [Code.Unavailable]: 503,
  [Code.DataLoss]: 500,
  [Code.Unauthenticated]: 401,
};

function describeFault(fault: Fault): Failure {
  const { code, httpStatus } = reasons[fault.reason];
  return {
    httpStatus,
    code,
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
    httpStatus: statusOfReason(info?.reason) ?? codeStatuses[error.code],
    code: error.code,
    message: error.rawMessage,
    ...(info === undefined ? {} : { reason: info.reason }),
    metadata: info?.metadata ?? {},
    violations: violations.map(({ field, description }) => ({ field, description })),
    ...(delay === undefined ? {} : { retryAfterSeconds: toWholeSeconds(Number(delay.seconds) + delay.nanos / 1e9) }),
  };
}

/** Never less than is needed, and never 0, which some clients take for "at once, and again". */
function toWholeSeconds(seconds: number): number {
  return Math.max(1, Math.ceil(seconds));
}

function statusOfReason(reason: string | undefined): number | undefined {
  return reason !== undefined && Object.hasOwn(reasons, reason)
    ? reasons[reason as keyof typeof reasons].httpStatus
    : undefined;
}

function printableDetails({ metadata, violations }: Failure): object | undefined {
  const details = {
    ...(Object.keys(metadata).length > 0 ? { metadata } : {}),
    ...(violations.length > 0 ? { violations } : {}),
  };
  return Object.keys(details).length > 0 ? details : undefined;
}
