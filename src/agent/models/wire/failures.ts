// Describes faults of a provider over HTTP as failures for the agent loop. Pure. The messages may be shown to clients: they
// name the provider and the kind of failure, never an address or a key.

import type { IncomingHttpHeaders } from "node:http";
import { parseObject } from "../../../platform/base/json/parse-object.ts";
import type { ModelFailure, ModelPart } from "../model.ts";
import { causeOf, isPassing } from "./cause.ts";
import { asRecord } from "./frame.ts";

// Enough for a provider's longest explanation; a whole HTML error page helps no reader.
const errorTextCharsMax = 2000;

/** Carries a failure through code that can only throw. */
export class ProviderFailure extends Error {
  override readonly name = "ProviderFailure";
  readonly failure: ModelFailure;

  constructor(failure: ModelFailure, cause?: unknown) {
    super(failure.message, { cause });
    this.failure = failure;
  }
}

/** Returns the failure inside an error. Returns undefined for other errors. */
export function findFailure(error: unknown): ModelFailure | undefined {
  for (let current = error; current instanceof Error; current = current.cause) {
    if (current instanceof ProviderFailure) {
      return current.failure;
    }
  }
  return undefined;
}

/** A shorter key is a word in its place, such as `none` or `ollama` of a local server: hidden, it would make messages unreadable. */
const keyLengthMin = 8;

/** Removes the key from a failure's message, because some providers quote the key they refused. */
export function hideKey<Part extends ModelPart>(apiKey: string, part: Part): Part {
  const isShown = part.type !== "failure" || apiKey.length < keyLengthMin;
  return isShown ? part : { ...part, message: part.message.replaceAll(apiKey, "[redacted]") };
}

/** Describes a response with an HTTP error status. */
export function describeHttpError(status: number, body: string, retryAfterMs: number | undefined): ModelFailure {
  const parsed = asRecord(parseObject(body));
  const { words, message } = readError(parsed.error ?? parsed);
  const cause = causeOf({ status, words, message: message === "" ? body : message });
  const shown = `API error (status ${status}): ${boundText(body)}`;
  const [providerCode] = words;
  return {
    ...{ type: "failure", cause, message: shown, status, providerCode, code: String(status) },
    ...{ retryable: isPassing(cause), retryAfterMs: retryAfterMs ?? findRetryDelay(body) },
  };
}

/** Describes an error object in place of a chunk; providers disagree on its shape. */
export function describeStreamError(error: unknown): ModelFailure {
  const { words, message, status } = readError(error);
  const text = message === "" ? stringify(error) : message;
  const cause = causeOf({ status, words, message: text });
  const [providerCode] = words;
  return {
    ...{ type: "failure", cause, message: `API error in stream: ${boundText(text)}`, status, providerCode },
    ...{ code: status === undefined ? "stream_error" : String(status), retryable: isPassing(cause) },
    retryAfterMs: findRetryDelay(stringify(error)),
  };
}

/** Reads an error of unknown shape. Providers use numbers of their own and empty words too. */
function readError(error: unknown): { words: readonly string[]; message: string; status: number | undefined } {
  const { code, type, status: given, message } = asRecord(error);
  const status = Number(code ?? given);
  const words = [code, type, given].filter((word): word is string => typeof word === "string" && /[A-Za-z]/.test(word));
  return {
    words,
    message: typeof message === "string" ? message : "",
    status: Number.isInteger(status) && status >= 400 && status <= 599 ? status : undefined,
  };
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

/** Describes a response whose calls may lack a piece, because a frame was invalid JSON. */
export function describeLostFrame(provider: string): ModelFailure {
  return failed("cut", `the response of provider ${provider} was cut off: a frame of its calls was incomplete`, true);
}

/** Describes a provider that sent no headers in time. */
export function describeHeadersTimeout(provider: string, limitMs: number): ModelFailure {
  return failed("timeout", `provider ${provider} did not answer within ${limitMs / 1000} s`, true);
}

/** Describes a response that cannot be parsed. Not retryable. */
export function describeUnreadable(provider: string, why: string): ModelFailure {
  return failed("unreadable", `the response of provider ${provider} cannot be read: ${why}`, false);
}

/** Describes a response that was left because large events of other responses fill the memory for them. */
export function describeNoRoom(provider: string): ModelFailure {
  const why = "many responses with large events arrive at once; try again";
  return failed("no_room", `the response of provider ${provider} was left: ${why}`, true);
}

/** Describes a response that ended with a finish reason that means trouble. */
export function describeBadFinish(provider: string, reason: string): ModelFailure {
  return failed("finish", `provider ${provider} ended the response with finish reason "${boundText(reason)}"`, true);
}

/**
 * Describes a response that waits until a person allows a tool that the provider runs. `tool` is the model's own text. A retry would
 * wait again.
 */
export function describeApproval(provider: string, tool: string): ModelFailure {
  const asked = `provider ${provider} waits for an approval of its MCP tool ${JSON.stringify(boundText(tool))}`;
  const message = `${asked}, which Runnel cannot give: set "require_approval": "never" in this tool of the agent's tools.provider`;
  const providerCode = "mcp_approval_request";
  return {
    ...{ type: "failure", cause: "invalid_request", code: "approval", message, providerCode },
    ...{ retryable: false, retryAfterMs: undefined },
  };
}

/** The longest wait that is believed. The log and the wake-up of a parked run take no number without a limit. */
const retryAfterMsMax = 7 * 24 * 3_600_000;

const decimal = /^\d+(\.\d+)?$/;

/**
 * Returns how long the provider asks to wait in milliseconds, from 0 to seven days. It reads `retry-after-ms`, which OpenAI and Azure
 * send too because it is finer, and else `retry-after` (RFC 9110: seconds or an HTTP date). Returns undefined without a valid one.
 */
export function readRetryAfter(headers: IncomingHttpHeaders, nowMs: number): number | undefined {
  const { "retry-after-ms": ms, "retry-after": text = "" } = headers;
  return typeof ms === "string" && decimal.test(ms) ? boundWait(Number(ms)) : parseRetryAfter(text.trim(), nowMs);
}

function parseRetryAfter(text: string, nowMs: number): number | undefined {
  // Some providers send fractions of a second, which the RFC does not allow.
  if (decimal.test(text)) {
    return boundWait(Number(text) * 1000);
  }
  // A date begins with its weekday; Date.parse alone would also read "-5" as a year.
  const atMs = /^[A-Za-z]{3,9},? /.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(atMs) ? undefined : boundWait(atMs - nowMs);
}

/** Finds google.rpc.RetryInfo in the text of an error. It searches text because the body may be cut off. */
function findRetryDelay(error: string): number | undefined {
  const seconds = /"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"/.exec(error)?.[1];
  return seconds === undefined ? undefined : boundWait(Number(seconds) * 1000);
}

function boundWait(ms: number): number {
  return Math.min(Math.max(Math.ceil(ms), 0), retryAfterMsMax);
}

function failed(code: string, message: string, retryable: boolean): ModelFailure {
  const cause = code === "timeout" ? "timeout" : "unavailable";
  return { type: "failure", cause, code, message, retryable, retryAfterMs: undefined };
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
