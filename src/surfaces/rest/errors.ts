// How the errors of a method are written: the body, the status and the headers of a failure.

import { Code } from "@connectrpc/connect";
import { ErrorBody, type RestProfile } from "#gen/runnel/options/v1/options_pb.js";
import type { ErrorPrinter, Failure } from "../../platform/base/error-form.ts";
import { Fault } from "../../platform/base/fault.ts";
import { styleJson } from "../../platform/base/json/print.ts";
import type { ReasonName } from "../../platform/base/reasons.ts";

/** How errors are written. */
export interface ErrorStyle extends Pick<RestProfile, "goText"> {
  readonly printer: ErrorPrinter;
}

/** Returns the style of a profile. Throws Fault CONFIG_INVALID for an error body that no protocol brings. */
export function errorStyleOf({ errorBody, goText }: RestProfile, printers: readonly ErrorPrinter[] = []): ErrorStyle {
  const wanted = errorBody || ErrorBody.RUNNEL;
  const printer = [runnelPrinter, barePrinter, ...printers].find((each) => each.errorBody === wanted);
  if (printer === undefined) {
    throw new Fault("CONFIG_INVALID", `no protocol has the form of the error body ${ErrorBody[errorBody]}`);
  }
  return { printer, goText };
}

/** Returns the JSON of an error body, without the final newline. */
export function printFailure(failure: Failure, style: ErrorStyle): string {
  return styleJson(JSON.stringify(style.printer.print(failure, failure.reason ?? codeNames[failure.code])), style);
}

/** Whether the body ends in a newline. One text of the Agent Runner document does not, and clients may rely on its length. */
export function endsInNewline({ reason }: Failure, { printer }: ErrorStyle): boolean {
  return !(printer === barePrinter && reason === rateLimited);
}

/** Returns the HTTP status of a failure. Some forms override it. */
export function statusOfFailure(failure: Failure, { printer }: ErrorStyle): number {
  return printer.statusOf?.(failure) ?? failure.httpStatus;
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

const barePrinter: ErrorPrinter = { errorBody: ErrorBody.BARE, print: ({ message: error }) => ({ error }) };

const runnelPrinter: ErrorPrinter = {
  errorBody: ErrorBody.RUNNEL,
  print: (failure) => {
    const { message: error, code, reason } = failure;
    return { error, code: codeNames[code], reason, details: printableDetails(failure) };
  },
};

/** The names of google.rpc.Code, as gRPC documents write them. */
export const codeNames: Record<Code, string> = {
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
