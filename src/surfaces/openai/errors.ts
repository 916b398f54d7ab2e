// Failures as OpenAI's API reports them: `{"error": {message, type, param, code}}`, with the statuses that its clients act on.

import { ModelError_Cause, type RunFailed } from "#gen/runnel/v1/result_pb.js";
import type { Failure } from "../../platform/base/error-form.ts";
import type { ReasonName } from "../../platform/base/reasons.ts";
import { type FieldNames, renameField } from "../in-process/field-names.ts";
import { describeFailure, isUnexpected } from "../rest/failure.ts";

/** The body of an error. */
export interface ErrorBody {
  readonly message: string;
  readonly type: string;
  readonly param: string | null;
  readonly code: string | null;
}

/** A refusal of a request, in the terms of OpenAI's API. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  readonly body: ErrorBody;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    { message, type, param, code }: Pick<ErrorBody, "message"> & Partial<ErrorBody>,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
    this.status = status;
    this.body = { message, type: type ?? typeOf(status), param: param ?? null, code: code ?? null };
    this.headers = headers;
  }
}

function typeOf(status: number): string {
  switch (status) {
    case 403:
      return "permission_error";
    case 429:
      return "rate_limit_error";
    default:
      return status >= 500 ? "server_error" : "invalid_request_error";
  }
}

/** Returns the refusal of a field that this surface does not take. */
export function unsupported(param: string, fix = "leave it out"): ApiError {
  return new ApiError(400, {
    message: `Unsupported parameter: '${param}': ${fix}.`,
    param,
    code: "unsupported_parameter",
  });
}

/** Returns the refusal of a field with a wrong value. */
export function invalid(param: string, problem: string): ApiError {
  return new ApiError(400, { message: `Invalid '${param}': ${problem}.`, param, code: "invalid_value" });
}

/** Returns the answer for an id that the caller does not have. */
export function notFound(what: string, id: string): ApiError {
  return new ApiError(404, { message: `${what} with id '${id}' not found.`, code: "not_found" });
}

/** Returns whether the service must report the error: it has a cause that the caller does not see. */
export function isDefect(error: unknown): boolean {
  return !(error instanceof ApiError) && isUnexpected(error);
}

/** Converts every error; `names` are the request's names of fields. */
export function toApiError(error: unknown, names: FieldNames = []): ApiError {
  if (error instanceof ApiError) {
    return error;
  }
  const failure = describeFailure(error);
  const { status, code, type, headers } = translate(failure);
  const { message, field } = renameField(failure, names);
  const param = field ?? (code === "model_not_found" ? "model" : null);
  const wait = failure.retryAfterSeconds;
  return new ApiError(
    status,
    { message, param, code, ...(type !== undefined && { type }) },
    { ...(wait !== undefined && { "retry-after": String(wait) }), ...headers },
  );
}

interface Translation {
  readonly status: number;
  readonly code: string;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A 409 is repeated by the clients, and a body that was used before stays refused. */
const isFinal = { "x-should-retry": "false" };

const quotaExhausted: Translation = {
  status: 429,
  code: "insufficient_quota",
  type: "insufficient_quota",
  headers: isFinal,
};

const translations: Readonly<Partial<Record<ReasonName, Translation>>> = {
  SESSION_BUSY: { status: 400, code: "conversation_locked" },
  SESSION_ENDED: { status: 400, code: "conversation_locked" },
  RUN_ACTIVE: { status: 400, code: "conversation_locked" },
  SESSION_NOT_FOUND: { status: 404, code: "not_found" },
  RUN_NOT_FOUND: { status: 404, code: "not_found" },
  RESULTS_EXPIRED: { status: 404, code: "response_expired" },
  MODEL_UNSUPPORTED: { status: 404, code: "model_not_found" },
  ACCESS_DENIED: { status: 403, code: "permission_denied" },
  ORIGIN_REFUSED: { status: 403, code: "permission_denied" },
  REQUEST_ID_REUSED: { status: 409, code: "idempotency_key_reused", headers: isFinal },
  BODY_TOO_LARGE: { status: 413, code: "request_too_large" },
  RATE_LIMITED: { status: 429, code: "rate_limit_exceeded" },
  CONCURRENCY_EXHAUSTED: { status: 429, code: "rate_limit_exceeded" },
  QUOTA_EXHAUSTED: quotaExhausted,
};

function translate({ reason, httpStatus }: Failure): Translation {
  const known = reason === undefined ? undefined : translations[reason as ReasonName];
  if (known !== undefined) {
    return known;
  }
  if (httpStatus === 401) {
    return { status: 401, code: "invalid_api_key" };
  }
  if (httpStatus === 413) {
    return { status: 413, code: "request_too_large" };
  }
  return httpStatus >= 500 ? { status: httpStatus, code: "server_error" } : { status: 400, code: "invalid_value" };
}

/** Returns the error of a run that failed, with the status with which OpenAI reports the same cause. */
export function failureOf({ code, error: message, modelError }: RunFailed): ApiError {
  const cause = modelError?.cause ?? ModelError_Cause.UNSPECIFIED;
  const { status, headers, ...said } = code.includes("budget") ? quotaExhausted : causes[cause];
  const wait = Number(modelError?.retryAfterMs ?? 0);
  return new ApiError(
    status,
    { message, code, ...said },
    { ...headers, ...(wait > 0 && { "retry-after": String(Math.ceil(wait / 1_000)) }) },
  );
}

/** Without a `code`, the answer has that of the run. */
const causes: Readonly<Record<ModelError_Cause, Pick<Translation, "status"> & Partial<Translation>>> = {
  [ModelError_Cause.UNSPECIFIED]: { status: 500 },
  [ModelError_Cause.RATE_LIMIT]: { status: 429, code: "rate_limit_exceeded" },
  [ModelError_Cause.CONTEXT_LENGTH]: { status: 400, code: "context_length_exceeded" },
  // The key is the operator's: the caller's own credentials were valid.
  [ModelError_Cause.AUTHENTICATION]: { status: 401, code: "provider_authentication" },
  [ModelError_Cause.QUOTA]: quotaExhausted,
  [ModelError_Cause.OVERLOADED]: { status: 503, code: "overloaded" },
  [ModelError_Cause.CONTENT_FILTER]: { status: 400, code: "content_filter" },
  [ModelError_Cause.INVALID_REQUEST]: { status: 400, code: "invalid_request" },
  [ModelError_Cause.NOT_FOUND]: { status: 404, code: "model_not_found" },
  [ModelError_Cause.TIMEOUT]: { status: 504, code: "timeout" },
  [ModelError_Cause.UNAVAILABLE]: { status: 500 },
};
