// Why a provider gave no response, from its HTTP status, the words of its error and its message. Providers of one format use other
// words for the same cause, so specific words count before the message, and the message before general words and the status.

import type { FailureCause } from "../model.ts";

/** An error as a provider reports it. */
export interface ReportedError {
  /** The HTTP status; undefined when the error had none. */
  readonly status: number | undefined;
  /** Its code, type and status words. */
  readonly words: readonly string[];
  readonly message: string;
}

/** Returns the cause of an error. */
export function causeOf({ status, words, message }: ReportedError): FailureCause {
  const lower = words.map((word) => word.toLowerCase());
  return (
    find(lower, specificWords) ??
    findPhrase(message.toLowerCase()) ??
    (status === paymentRequired ? "quota" : find(lower, generalWords)) ??
    (status === undefined ? "unavailable" : causeOfStatus(status))
  );
}

/** Whether the same request may succeed soon. */
export function isPassing(cause: FailureCause): boolean {
  return cause === "rate_limit" || cause === "overloaded" || cause === "timeout" || cause === "unavailable";
}

/** It has one meaning, and errors with it may have the words of any refused request. */
const paymentRequired = 402;

function find(words: readonly string[], causes: ReadonlyMap<string, FailureCause>): FailureCause | undefined {
  return words.map((word) => causes.get(word)).find((cause) => cause !== undefined);
}

const specificWords: ReadonlyMap<string, FailureCause> = new Map([
  ["context_length_exceeded", "context_length"],
  ["context_window_exceeded", "context_length"],
  ["model_context_window_exceeded", "context_length"],
  ["insufficient_quota", "quota"],
  ["insufficient_balance", "quota"],
  ["insufficient_balance_error", "quota"],
  ["billing_error", "quota"],
  ["billing_hard_limit_reached", "quota"],
  ["content_filter", "content_filter"],
  ["content_policy_violation", "content_filter"],
  ["overloaded_error", "overloaded"],
  ["server_overloaded", "overloaded"],
  ["engine_overloaded", "overloaded"],
  ["invalid_api_key", "authentication"],
  ["model_not_found", "not_found"],
]);

/** Words that several causes share, such as that of an error in the request. */
const generalWords: ReadonlyMap<string, FailureCause> = new Map([
  ["rate_limit_error", "rate_limit"],
  ["rate_limit_exceeded", "rate_limit"],
  ["resource_exhausted", "rate_limit"],
  ["authentication_error", "authentication"],
  ["permission_error", "authentication"],
  ["unauthenticated", "authentication"],
  ["permission_denied", "authentication"],
  ["not_found_error", "not_found"],
  ["not_found", "not_found"],
  ["timeout_error", "timeout"],
  ["deadline_exceeded", "timeout"],
  ["invalid_request_error", "invalid_request"],
  ["request_too_large", "invalid_request"],
  ["invalid_prompt", "invalid_request"],
  ["invalid_argument", "invalid_request"],
  ["failed_precondition", "invalid_request"],
]);

/** Parts of messages, in lower case, of servers that send no words. Gemini says of a rate, too, that a quota is exceeded. */
const phrases: readonly (readonly [FailureCause, readonly string[]])[] = [
  [
    "context_length",
    [
      "context length",
      "context window",
      "context too long",
      "prompt is too long",
      "input is too long",
      "maximum context",
    ],
  ],
  ["quota", ["insufficient quota", "credit balance", "no credits", "insufficient credits", "insufficient balance"]],
  ["overloaded", ["overloaded"]],
];

function findPhrase(message: string): FailureCause | undefined {
  return phrases.find(([, parts]) => parts.some((part) => message.includes(part)))?.[0];
}

function causeOfStatus(status: number): FailureCause {
  switch (status) {
    case 401:
    case 403:
      return "authentication";
    case paymentRequired:
      return "quota";
    case 404:
      return "not_found";
    case 408:
    case 504:
      return "timeout";
    case 429:
      return "rate_limit";
    case 529:
      return "overloaded";
    default:
      return status >= 500 ? "unavailable" : "invalid_request";
  }
}
