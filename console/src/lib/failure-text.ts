// Why a call failed, in words for people.

import { ConnectError } from "@connectrpc/connect";

/** Returns whether the call got no answer at all: the words for it differ between browsers. */
export function isUnanswered(error: unknown): boolean {
  return ConnectError.from(error).cause instanceof TypeError;
}

/** Example: `the service does not answer: try again in a moment`. */
export function failureText(error: unknown): string {
  return isUnanswered(error)
    ? "the service does not answer: try again in a moment"
    : ConnectError.from(error).rawMessage;
}
