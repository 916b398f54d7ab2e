// The programs that the service has begun in earlier responses of a turn and that wait for the results of our functions.

import type { ModelMessage } from "../model.ts";
import type { Origin } from "../wire/origin.ts";
import { type WaitingCall, waitingPrograms } from "./provider-calls.ts";
import { keptItems } from "./state.ts";

/** Returns the programs after the last message of a user that have no output. */
export function openProgramsOf(messages: readonly ModelMessage[], origin: Origin): readonly WaitingCall[] {
  const open = messages.slice(messages.findLastIndex(({ role }) => role === "user") + 1);
  const items = open.flatMap((message) =>
    message.role === "assistant" ? (keptItems(origin, message.state) ?? []) : [],
  );
  return waitingPrograms(items);
}
