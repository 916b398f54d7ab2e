// Error bodies with the codes of the "Portal ↔ Runner Signing Contract": those of its jobs, and those of its debug call.

import { ErrorBody } from "#gen/runnel/options/v1/options_pb.js";
import type { ErrorForm, Failure } from "../../platform/base/error-form.ts";
import type { ReasonName } from "../../platform/base/reasons.ts";
import type { reasons } from "./reasons.ts";

type Names = Readonly<Partial<Record<ReasonName | keyof typeof reasons, string>>>;

/** The contract's codes of reasons. Other reasons use their own names in lower case. */
const codes: Names = {
  RATE_LIMITED: "rate_limit_exceeded",
  BODY_TOO_LARGE: "invalid_body",
  INVALID_ARGUMENT: "validation_error",
  REPLAY_UNPROTECTED: "protection_unavailable:replay",
};

/** The codes of the debug call, which takes only one credential. */
const debugCodes: Names = {
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

const text = { type: "string" };

const jobErrors: ErrorForm = {
  errorBody: ErrorBody.JOBSPEC,
  print: jobFailureBody,
  statusOf: jobStatus,
  name: "JobspecError",
  schema: {
    type: "object",
    properties: {
      error: { ...text, description: "What was wrong; for a body that could not be read, the code again." },
      error_code: { ...text, description: "What was wrong, for programs." },
      message: { ...text, description: "What was wrong with a body that could not be read." },
      details: { type: "object", description: "Facts about the error code by name.", additionalProperties: text },
    },
    required: ["error", "error_code"],
  },
};

const debugErrors: ErrorForm = {
  errorBody: ErrorBody.CODE,
  print: debugFailureBody,
  statusOf: debugStatus,
  name: "CodeError",
  schema: {
    type: "object",
    properties: {
      error: { ...text, description: "What was wrong, for programs." },
      message: { ...text, description: "What was wrong and what to do, for people." },
      details: { ...text, description: "Where the JSON is wrong." },
      retry_after: { type: "integer", description: "Seconds to wait before the next attempt." },
    },
    required: ["error"],
  },
};

/** The error bodies of the signing contract. */
export const errorForms: readonly ErrorForm[] = [jobErrors, debugErrors];

/**
 * Returns `{"error", "error_code", "details"}`. For a body that was not parsed yet, `error` is the code instead of the text.
 */
function jobFailureBody({ message, metadata }: Failure, reason: string): object {
  const { error_code = codeOf(reason, codes), stage, ...details } = metadata;
  const isOfBody = stage === "body" || reason === bodyTooLarge;
  return {
    ...(isOfBody ? { error: error_code, error_code, message } : { error: message, error_code }),
    ...(Object.keys(details).length > 0 && { details }),
  };
}

/** Returns `{"error": code, "message"}`, with the retry delay in seconds if known. */
function debugFailureBody(failure: Failure, reason: string): object {
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
function jobStatus({ reason }: Failure): number | undefined {
  return reason === bodyTooLarge ? badRequest : undefined;
}

/** Returns the status of a debug-call failure, or undefined when the catalogue's own status applies. */
function debugStatus(failure: Failure): number | undefined {
  return failure.reason === "TOKEN_INVALID" ? forbidden : jobStatus(failure);
}

function codeOf(reason: string, names: Readonly<Record<string, string>>): string {
  return names[reason] ?? reason.toLowerCase();
}
