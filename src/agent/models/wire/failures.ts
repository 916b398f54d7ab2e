// What may go wrong with a provider over HTTP, as the failures that the agent loop reads. Pure.
// The texts may be shown to callers: they name the provider and the kind of failure, never an address or a key.

import type { ModelFailure, ModelPart } from "../model.ts";

// Enough for the longest explanation a provider writes; a whole HTML error page is of no use to anyone.
const errorTextCharsMax = 2000;

// The request itself was refused: sending it again cannot help. Everything else inside a stream is the provider's trouble.
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

/** Carries a failure through code that only knows how to throw. */
export class ProviderFailure extends Error {
  override readonly name = "ProviderFailure";
  readonly failure: ModelFailure;

  constructor(failure: ModelFailure, cause?: unknown) {
    super(failure.message, { cause });
    this.failure = failure;
  }
}

/** The failure inside an error, which the SDK may have wrapped in errors of its own. */
export function findFailure(error: unknown): ModelFailure | undefined {
  for (let current = error; current instanceof Error; current = current.cause) {
    if (current instanceof ProviderFailure) {
      return current.failure;
    }
  }
  return undefined;
}

/** Some providers say in their texts which key they refused. */
export function hideKey<Part extends ModelPart>(apiKey: string, part: Part): Part {
  const isHidden = part.type !== "failure" || apiKey === "";
  return isHidden ? part : { ...part, message: part.message.replaceAll(apiKey, "[redacted]") };
}

export function describeHttpError(status: number, body: string, retryAfterMs: number | undefined): ModelFailure {
  const message = `API error (status ${status}): ${boundText(body)}`;
  const failure = failed(String(status), message, isPassingStatus(status));
  return { ...failure, retryAfterMs: retryAfterMs ?? findRetryDelay(body) };
}

/** An error object where a chunk was expected; providers disagree on its shape. */
export function describeStreamError(error: unknown): ModelFailure {
  const fields = typeof error === "object" && error !== null ? (error as Record<string, unknown>) : {};
  const text = typeof fields.message === "string" ? fields.message : stringify(error);
  const status = Number(fields.code ?? fields.status);
  const refused = refusalCodes.has(fields.code) || refusalCodes.has(fields.type);
  // Providers have numbers of their own as well, and empty codes.
  const isStatus = Number.isInteger(status) && status >= 400 && status <= 599;
  const passing = isStatus ? isPassingStatus(status) : !refused;
  const code = isStatus ? String(status) : "stream_error";
  const failure = failed(code, `API error in stream: ${boundText(text)}`, passing);
  return { ...failure, retryAfterMs: findRetryDelay(stringify(error)) };
}

export function describeUnreachable(provider: string, error: unknown): ModelFailure {
  return failed("network", `cannot reach provider ${provider}: ${describeCause(error)}`, true);
}

/** The response stopped before its end; `error` is what the connection reported, if anything. */
export function describeCut(provider: string, error?: unknown): ModelFailure {
  const cause = error === undefined ? "no finish reason was sent" : describeCause(error);
  return failed("cut", `the response of provider ${provider} was cut off: ${cause}`, true);
}

export function describeHeadersTimeout(provider: string, limitMs: number): ModelFailure {
  return failed("timeout", `provider ${provider} did not answer within ${limitMs / 1000} s`, true);
}

export function describeUnreadable(provider: string, why: string): ModelFailure {
  return failed("unreadable", `the response of provider ${provider} cannot be read: ${why}`, false);
}

/** The model gave up for a reason that is no end of an answer. */
export function describeBadFinish(provider: string, reason: string): ModelFailure {
  return failed("finish", `provider ${provider} ended the response with finish reason "${boundText(reason)}"`, true);
}

/** Retry-After as RFC 9110 has it: seconds or an HTTP date. Undefined when absent or unreadable; never negative. */
export function parseRetryAfter(value: string | undefined, nowMs: number): number | undefined {
  if (value === undefined) {
    return undefined;
  }
  const text = value.trim();
  // Some providers send fractions of a second, which the RFC does not know.
  if (/^\d+(\.\d+)?$/.test(text)) {
    return Math.ceil(Number(text) * 1000);
  }
  // A date names its day; Date.parse alone would also take "-5" for a year.
  const atMs = /^[A-Za-z]{3,9},? /.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs);
}

/** google.rpc.RetryInfo among an error's details, found as text: what is read of a body may break off before its end. */
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

// The code alone: messages of network errors hold addresses.
function describeCause(error: unknown): string {
  for (let current = error; current instanceof Error; current = current.cause) {
    const code = (current as Error & { code?: unknown }).code;
    if (typeof code === "string") {
      return code;
    }
  }
  return "connection failed";
}
