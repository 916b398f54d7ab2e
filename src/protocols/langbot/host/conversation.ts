// The only conversation that a run may read: its own.

import { Fault } from "../../../platform/base/fault.ts";
import { reasons } from "../reasons.ts";
import { conversationKey } from "../runners/scope.ts";
import type { HostRun } from "./access.ts";

/**
 * Returns the key of the run's conversation. Throws Fault GRANT_REFUSED for another conversation, or when the run has no
 * conversation.
 */
export function requireConversation({ scope }: HostRun, askedId: string | undefined): Buffer {
  const key = conversationKey(scope);
  if (key === undefined || (askedId !== undefined && askedId !== scope.conversationId)) {
    throw new Fault(reasons.GRANT_REFUSED, "the conversation does not belong to this run");
  }
  return key;
}

/** Converts a time to seconds since 1970, as in the records of the protocol. */
export function secondsOf(time: Date): bigint {
  return BigInt(Math.floor(time.getTime() / 1_000));
}
