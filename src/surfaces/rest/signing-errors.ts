// Failures in the words of the signing contract's service, which knows them by codes of its own ("Portal ↔ Runner Signing
// Contract"): those of its jobs, and those of its debug call.

import type { ReasonName } from "../../platform/base/fault.ts";
import type { Failure } from "./failure.ts";

/** What a reason is called there; others by their own names in lower case. */
const codes: Partial<Record<ReasonName, string>> = {
  RATE_LIMITED: "rate_limit_exceeded",
  BODY_TOO_LARGE: "invalid_body",
  INVALID_ARGUMENT: "validation_error",
  REPLAY_UNPROTECTED: "protection_unavailable:replay",
};

/** What the debug call, which takes one credential alone, calls them. */
const debugCodes: Partial<Record<ReasonName, string>> = {
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

/** `{"error", "error_code", "details"}`. Of a body that was not looked into yet the code stands in the place of the text. */
export function jobFailureBody({ message, metadata }: Failure, reason: string): object {
  const { error_code = codeOf(reason, codes), stage, ...details } = metadata;
  const isOfBody = stage === "body" || reason === bodyTooLarge;
  return {
    ...(isOfBody ? { error: error_code, error_code, message } : { error: message, error_code }),
    ...(Object.keys(details).length > 0 && { details }),
  };
}

/** `{"error": code, "message"}`, with the time to wait where there is one. */
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

/** Undefined where the catalogue's own status is theirs too. */
export function jobStatus({ reason }: Failure): number | undefined {
  return reason === bodyTooLarge ? badRequest : undefined;
}

export function debugStatus(failure: Failure): number | undefined {
  return failure.reason === "TOKEN_INVALID" ? forbidden : jobStatus(failure);
}

function codeOf(reason: string, names: Partial<Record<string, string>>): string {
  return names[reason] ?? reason.toLowerCase();
}
