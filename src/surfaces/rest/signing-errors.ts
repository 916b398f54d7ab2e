// Error bodies with the codes of the "Portal ↔ Runner Signing Contract": those of its jobs, and those of its debug call.

import type { ReasonName } from "../../platform/base/reasons.ts";
import type { Failure } from "./failure.ts";

/** The contract's codes of reasons. Other reasons use their own names in lower case. */
const codes: Readonly<Record<string, string>> = {
  RATE_LIMITED: "rate_limit_exceeded",
  BODY_TOO_LARGE: "invalid_body",
  INVALID_ARGUMENT: "validation_error",
  REPLAY_UNPROTECTED: "protection_unavailable:replay",
};

/** The codes of the debug call, which takes only one credential. */
const debugCodes: Readonly<Record<string, string>> = {
  ...codes,
  ADMIN_NOT_CONFIGURED: "admin_auth_not_configured",
  AUTHORIZATION_MALFORMED: "invalid_auth_format",
  TOKEN_INVALID: "invalid_token",
  ACCESS_DENIED: "invalid_token",
};

const bodyTooLarge = "BODY_TOO_LARGE" satisfies ReasonName;
const unauthorized = 401;
const forbidden = 403;
const badRequest = 400;

/**
 * Returns `{"error", "error_code", "details"}`. For a body that was not parsed yet, `error` is the code instead of the text.
 */
export function jobFailureBody({ message, metadata }: Failure, reason: string): object {
  const { error_code = codeOf(reason, codes), stage, ...details } = metadata;
  const isOfBody = stage === "body" || reason === bodyTooLarge;
  return {
    ...(isOfBody ? { error: error_code, error_code, message } : { error: message, error_code }),
    ...(Object.keys(details).length > 0 && { details }),
  };
}

/** Returns `{"error": code, "message"}`, with the retry delay in seconds if known. */
export function debugFailureBody(failure: Failure, reason: string): object {
  const { message, metadata, httpStatus, retryAfterSeconds } = failure;
  const isNameless = httpStatus === unauthorized && !Object.hasOwn(debugCodes, reason);
  const error = isNameless ? "unauthorized" : (metadata.error_code ?? codeOf(reason, debugCodes));
  return {
    error,
    message,
    ...(error === "invalid_json" && { details: message }),
    ...(retryAfterSeconds !== undefined && { retry_after: retryAfterSeconds }),
  };
}

/** Returns the status of a job failure, or undefined when the catalogue's own status applies. */
export function jobStatus({ reason }: Failure): number | undefined {
  return reason === bodyTooLarge ? badRequest : undefined;
}

/** Returns the status of a debug-call failure, or undefined when the catalogue's own status applies. */
export function debugStatus(failure: Failure): number | undefined {
  return failure.reason === "TOKEN_INVALID" ? forbidden : jobStatus(failure);
}

function codeOf(reason: string, names: Partial<Record<string, string>>): string {
  return names[reason] ?? reason.toLowerCase();
}
