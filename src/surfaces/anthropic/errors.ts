// Failures as Anthropic's API reports them: `{"type": "error", "error": {type, message}, "request_id"}`, with the statuses from which its
// clients make their classes.

import { ModelError_Cause, type RunFailed } from "#gen/runnel/v1/result_pb.js";
import type { Failure } from "../../platform/base/error-form.ts";
import type { ReasonName } from "../../platform/base/reasons.ts";
import { type FieldNames, renameField } from "../in-process/field-names.ts";
import { describeFailure, isReason, isUnexpected } from "../rest/failure.ts";

/** The class of an error. */
type ErrorType =
  | "invalid_request_error"
  | "authentication_error"
  | "billing_error"
  | "permission_error"
  | "not_found_error"
  | "request_too_large"
  | "rate_limit_error"
  | "api_error"
  | "timeout_error"
  | "overloaded_error";

const types: Readonly<Record<number, ErrorType>> = {
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  504: "timeout_error",
  529: "overloaded_error",
};

/** A refusal of a request, or the failure of an answer. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  readonly type: ErrorType;
  readonly headers: Readonly<Record<string, string>>;
  readonly #code: string | undefined;

  /** `code` is for the clients' own handling of the error. */
  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}, code?: string) {
    super(message);
    this.status = status;
    this.#code = code;
    this.type = types[status] ?? (status >= 500 ? "api_error" : "invalid_request_error");
    this.headers = headers;
  }

  /** Returns the body of the answer. */
  body(requestId: string | undefined): object {
    const { type, message } = this;
    const details = this.#code === undefined ? {} : { details: { error_code: this.#code } };
    return { type: "error", error: { type, message, ...details }, request_id: requestId ?? null };
  }
}

/** Returns the refusal of a field with a wrong value. */
export function invalid(field: string, problem: string): ApiError {
  return new ApiError(400, `${field}: ${problem}`);
}

/** Returns whether the service must report the error: it has a cause that the caller does not see. */
export function isDefect(error: unknown): boolean {
  return !(error instanceof ApiError) && isUnexpected(error);
}

/** Converts every error. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) {
    return error;
  }
  if (isReason(error, "RESUME")) {
    return overloaded("the service stops: repeat the request");
  }
  const failure = describeFailure(error);
  const { message } = renameField(failure, names);
  const wait = failure.retryAfterSeconds;
  const { status, headers } = translate(failure);
  return new ApiError(status, message, {
    ...(wait !== undefined && { "retry-after": String(wait) }),
    ...headers,
  });
}

const names: FieldNames = [
  ["tools", "tools"],
  ["system_prompt", "system"],
  ["stop", "stop_sequences"],
  ["response_format", "output_config.format"],
  ["reasoning_effort", "output_config.effort"],
  ["request_id", "Idempotency-Key"],
  ["session_id", "runnel-session"],
];

/** Returns the error after which programs repeat a request, in the middle of a stream too. */
export function overloaded(message: string): ApiError {
  return new ApiError(529, message);
}

interface Translation {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
}

const translations: Readonly<Partial<Record<ReasonName, Translation>>> = {
  MODEL_UNSUPPORTED: { status: 404 },
  // A 409 is repeated by the clients, and a body that was used before stays refused.
  REQUEST_ID_REUSED: { status: 409, headers: { "x-should-retry": "false" } },
  OVERLOADED: { status: 529 },
  QUOTA_EXHAUSTED: { status: 402 },
};

const known: ReadonlySet<number> = new Set([401, 403, 404, 413, 429]);

function translate({ reason, httpStatus }: Failure): Translation {
  const own = reason === undefined ? undefined : translations[reason as ReasonName];
  return own ?? { status: httpStatus >= 500 || known.has(httpStatus) ? httpStatus : 400 };
}

/** Returns the error of a run that failed, with the status with which Anthropic reports the same cause. */
export function failureOf({ code, error, modelError }: RunFailed): ApiError {
  const cause = modelError?.cause ?? ModelError_Cause.UNSPECIFIED;
  const waitMs = Number(modelError?.retryAfterMs ?? 0);
  // Programs know this beginning: they shorten the conversation and ask again.
  const message = cause === ModelError_Cause.CONTEXT_LENGTH ? `prompt is too long: ${error}` : error;
  return new ApiError(
    code.includes("budget") ? 402 : causes[cause],
    message,
    waitMs > 0 ? { "retry-after": String(Math.ceil(waitMs / 1_000)) } : {},
  );
}

const causes: Readonly<Record<ModelError_Cause, number>> = {
  [ModelError_Cause.UNSPECIFIED]: 500,
  [ModelError_Cause.RATE_LIMIT]: 429,
  [ModelError_Cause.CONTEXT_LENGTH]: 400,
  // The key is the operator's: the caller's own credentials were valid.
  [ModelError_Cause.AUTHENTICATION]: 401,
  [ModelError_Cause.QUOTA]: 402,
  [ModelError_Cause.OVERLOADED]: 529,
  [ModelError_Cause.CONTENT_FILTER]: 400,
  [ModelError_Cause.INVALID_REQUEST]: 400,
  [ModelError_Cause.NOT_FOUND]: 404,
  [ModelError_Cause.TIMEOUT]: 504,
  [ModelError_Cause.UNAVAILABLE]: 500,
};
