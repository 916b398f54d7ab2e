// The conversation that a run may read: its own.

import { Fault } from "../../../platform/base/fault.ts";
import { conversationKey } from "../runners/scope.ts";
import type { HostRun } from "./access.ts";

/** Throws GRANT_REFUSED for another conversation than the run's, and where it has none. */
export function requireConversation({ scope }: HostRun, askedId: string | undefined): Buffer {
  const key = conversationKey(scope);
  if (key === undefined || (askedId !== undefined && askedId !== scope.conversationId)) {
    throw new Fault("GRANT_REFUSED", "the conversation is not that of this run");
  }
  return key;
}

/** Seconds since 1970, as records of the protocol have times. */
export function secondsOf(time: Date): bigint {
  return BigInt(Math.floor(time.getTime() / 1_000));
}
