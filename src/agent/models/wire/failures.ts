// Describes faults of a provider over HTTP as failures for the agent loop. Pure. The messages may be shown to clients: they
// name the provider and the kind of failure, never an address or a key.

import type { ModelFailure, ModelPart } from "../model.ts";

// Enough for a provider's longest explanation; a whole HTML error page helps no reader.
const errorTextCharsMax = 2000;

// The request itself was refused, so a retry cannot help. Every other error inside a stream is the provider's problem.
const refusalCodes: ReadonlySet<unknown> = new Set([
  "invalid_request_error",
  "authentication_error",
  "permission_error",
  "not_found_error",
  "billing_error",
  "request_too_large",
  "insufficient_quota",
  "context_length_exceeded",
  "invalid_prompt",
  "content_filter",
]);

/** Carries a failure through code that can only throw. */
export class ProviderFailure extends Error {
  override readonly name = "ProviderFailure";
  readonly failure: ModelFailure;

  constructor(failure: ModelFailure, cause?: unknown) {
    super(failure.message, { cause });
    this.failure = failure;
  }
}

/** Returns the failure inside an error, which the SDK may have wrapped. Returns undefined for other errors. */
export function findFailure(error: unknown): ModelFailure | undefined {
  for (let current = error; current instanceof Error; current = current.cause) {
    if (current instanceof ProviderFailure) {
      return current.failure;
    }
  }
  return undefined;
}

/** Removes the key from a failure's message, because some providers quote the key they refused. */
export function hideKey<Part extends ModelPart>(apiKey: string, part: Part): Part {
  const isHidden = part.type !== "failure" || apiKey === "";
  return isHidden ? part : { ...part, message: part.message.replaceAll(apiKey, "[redacted]") };
}

/** Describes a response with an HTTP error status. */
export function describeHttpError(status: number, body: string, retryAfterMs: number | undefined): ModelFailure {
  const message = `API error (status ${status}): ${boundText(body)}`;
  const failure = failed(String(status), message, isPassingStatus(status));
  return { ...failure, retryAfterMs: retryAfterMs ?? findRetryDelay(body) };
}

/** Describes an error object in place of a chunk; providers disagree on its shape. */
export function describeStreamError(error: unknown): ModelFailure {
  const fields = typeof error === "object" && error !== null ? (error as Record<string, unknown>) : {};
  const text = typeof fields.message === "string" ? fields.message : stringify(error);
  const status = Number(fields.code ?? fields.status);
  const refused = refusalCodes.has(fields.code) || refusalCodes.has(fields.type);
  // Providers also use numbers of their own, and empty codes.
  const isStatus = Number.isInteger(status) && status >= 400 && status <= 599;
  const passing = isStatus ? isPassingStatus(status) : !refused;
  const code = isStatus ? String(status) : "stream_error";
  const failure = failed(code, `API error in stream: ${boundText(text)}`, passing);
  return { ...failure, retryAfterMs: findRetryDelay(stringify(error)) };
}

/** Describes a connection that could not be made. */
export function describeUnreachable(provider: string, error: unknown): ModelFailure {
  return failed("network", `cannot reach provider ${provider}: ${describeCause(error)}`, true);
}

/** Describes a response that stopped early. `error` is the connection's error, if any. */
export function describeCut(provider: string, error?: unknown): ModelFailure {
  const cause = error === undefined ? "no finish reason was sent" : describeCause(error);
  return failed("cut", `the response of provider ${provider} was cut off: ${cause}`, true);
}

/** Describes a provider that sent no headers in time. */
export function describeHeadersTimeout(provider: string, limitMs: number): ModelFailure {
  return failed("timeout", `provider ${provider} did not answer within ${limitMs / 1000} s`, true);
}

/** Describes a response that cannot be parsed. Not retryable. */
export function describeUnreadable(provider: string, why: string): ModelFailure {
  return failed("unreadable", `the response of provider ${provider} cannot be read: ${why}`, false);
}

/** Describes a response that ended with a finish reason that means trouble. */
export function describeBadFinish(provider: string, reason: string): ModelFailure {
  return failed("finish", `provider ${provider} ended the response with finish reason "${boundText(reason)}"`, true);
}

/**
 * Returns Retry-After (RFC 9110: seconds or an HTTP date) in milliseconds, never negative. Returns undefined when it is missing
 * or invalid. Example: `"1.5"` gives 1500.
 */
export function parseRetryAfter(value: string | undefined, nowMs: number): number | undefined {
  if (value === undefined) {
    return undefined;
  }
  const text = value.trim();
  // Some providers send fractions of a second, which the RFC does not allow.
  if (/^\d+(\.\d+)?$/.test(text)) {
    return Math.ceil(Number(text) * 1000);
  }
  // A date begins with its weekday; Date.parse alone would also read "-5" as a year.
  const atMs = /^[A-Za-z]{3,9},? /.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs);
}

/** Finds google.rpc.RetryInfo in the text of an error. It searches text because the body may be cut off. */
function findRetryDelay(error: string): number | undefined {
  const seconds = /"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"/.exec(error)?.[1];
  return seconds === undefined ? undefined : Math.ceil(Number(seconds) * 1000);
}

function failed(code: string, message: string, retryable: boolean): ModelFailure {
  return { type: "failure", code, message, retryable, retryAfterMs: undefined };
}

function isPassingStatus(status: number): boolean {
  return status === 408 || status === 429 || status >= 500;
}

function boundText(text: string): string {
  return text.trim().slice(0, errorTextCharsMax).toWellFormed();
}

function stringify(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? String(value));
}

// Only the code is shown, because messages of network errors contain addresses.
function describeCause(error: unknown): string {
  for (let current = error; current instanceof Error; current = current.cause) {
    const code = (current as Error & { code?: unknown }).code;
    if (typeof code === "string") {
      return code;
    }
  }
  return "connection failed";
}
