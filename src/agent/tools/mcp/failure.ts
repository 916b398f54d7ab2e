// What went wrong with an MCP server, in words for a model and a person. Foreign text is bounded, and secrets are hidden by the caller.

import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError } from "@modelcontextprotocol/client";
import { isObject, parseObject } from "../../../platform/base/json/parse-object.ts";
import { EgressFailure } from "../../../platform/egress/failure.ts";
import { errorCharsMax } from "./limits.ts";

/** Returns the words, such as `the server answered 401`. */
export function describeFailure(error: unknown): string {
  return wordsOf(error).slice(0, errorCharsMax).toWellFormed();
}

/** Returns whether another attempt to connect may succeed. */
export function isPassing(error: unknown): boolean {
  const egress = findCause(error, EgressFailure);
  if (egress !== undefined) {
    return egress.isRetryable;
  }
  const status = findCause(error, SdkHttpError)?.status ?? 0;
  return status === 429 || status >= 500;
}

/** Returns whether the server has refused the request itself, as it does with an unknown tool. */
export function isRefusal(error: unknown): boolean {
  return error instanceof ProtocolError && findCause(error, EgressFailure) === undefined;
}

/** Returns whether the server does not know what was asked for: with a session, that is the session. */
export function isUnknown(error: unknown): boolean {
  return findCause(error, SdkHttpError)?.status === 404;
}

function wordsOf(error: unknown): string {
  const egress = findCause(error, EgressFailure);
  if (egress !== undefined) {
    return egress.message;
  }
  const http = findCause(error, SdkHttpError);
  if (http?.status !== undefined) {
    return http.status === 401 || http.status === 403
      ? `the server answered ${http.status}: give it valid credentials in the headers`
      : `the server answered ${http.status}${reasonIn((http.data as { readonly text?: unknown }).text)}`;
  }
  if (error instanceof ProtocolError) {
    return `the server answered with the error ${error.code}: ${error.message}`;
  }
  if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout) {
    return "the server did not answer in time";
  }
  if (error instanceof Error && error.name === "ZodError") {
    return "the server's answer is not a message of JSON-RPC 2.0";
  }
  if (error instanceof RangeError) {
    return "the server's answer is nested too deeply";
  }
  return error instanceof Error ? error.message : String(error);
}

/** Returns what the body of a refusal says, such as `: name is missing`. Empty for a body that is no error of the protocol. */
function reasonIn(body: unknown): string {
  const { error } = (typeof body === "string" ? parseObject(body) : undefined) ?? {};
  return isObject(error) && typeof error.message === "string" ? `: ${error.message}` : "";
}

/** The client wraps what went wrong below it. */
function findCause<T>(error: unknown, kind: abstract new (...args: never[]) => T): T | undefined {
  let next = error;
  for (let depth = 0; depth < causesMax && next instanceof Error; depth++) {
    if (next instanceof kind) {
      return next;
    }
    next = next.cause ?? (next as { data?: { cause?: unknown } }).data?.cause;
  }
  return undefined;
}

const causesMax = 8;
