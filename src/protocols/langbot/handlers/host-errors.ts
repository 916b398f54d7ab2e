// How the host API reports failures to runners: the usual details, and an API error of the LangBot AgentRunner Protocol v1, §9.

import { Code, type ConnectError } from "@connectrpc/connect";
import { ErrorInfoSchema } from "#gen/google/rpc/error_details_pb.js";
import { ApiErrorSchema } from "#gen/runnel/host/v1/host_api_pb.js";

/** The maximum characters of the message. The whole failure must fit into a trailer, which has the message twice already. */
const messageCharsMax = 500;

/** Adds the `ApiError` detail that runners read, unless the error has one. */
export function addApiError(error: ConnectError): ConnectError {
  if (error.findDetails(ApiErrorSchema).length > 0) {
    return error;
  }
  const info = error.findDetails(ErrorInfoSchema)[0];
  error.details.push({
    desc: ApiErrorSchema,
    value: {
      code: codeOf(error.code, info?.reason),
      message: error.rawMessage.slice(0, messageCharsMax).toWellFormed(),
      retryable: isRetryable(error.code, info?.reason),
      details: JSON.stringify({ ...(info !== undefined && { reason: info.reason, ...info.metadata }) }),
    },
  });
  return error;
}

function codeOf(code: Code, reason: string | undefined): string {
  if (code === Code.ResourceExhausted) {
    return limitReasons.has(reason ?? "") ? "rate_limited" : "payload_too_large";
  }
  return codes.get(code) ?? "runtime_error";
}

/** The reasons that count as limits. A used-up quota is reported as `rate_limited` too, but is not retryable. */
const limitReasons: ReadonlySet<string> = new Set(["RATE_LIMITED", "CONCURRENCY_EXHAUSTED", "QUOTA_EXHAUSTED"]);

const codes: ReadonlyMap<Code, string> = new Map([
  [Code.Unauthenticated, "unauthorized"],
  [Code.PermissionDenied, "unauthorized"],
  [Code.NotFound, "not_found"],
  [Code.DeadlineExceeded, "deadline_exceeded"],
  [Code.InvalidArgument, "invalid_argument"],
  [Code.OutOfRange, "invalid_argument"],
]);

/**
 * Whether a retry may help. A run past its deadline is not retryable. An action that timed out is: it may be quicker next time.
 */
function isRetryable(code: Code, reason: string | undefined): boolean {
  return code === Code.Unavailable || code === Code.Aborted || reason === "RATE_LIMITED" || reason === "TIMEOUT";
}
