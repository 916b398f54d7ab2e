// Entries of the communication log, with the stamp of the process that writes them.

import type { Clock } from "../../../platform/base/clock.ts";
import { newUuid } from "../../../platform/base/ids.ts";
import type { NewCommunication } from "../storage/communication.ts";

/** Which process speaks. */
export type Stamp = Pick<NewCommunication, "instanceId" | "port" | "pid">;

export function communicationOf(
  entry: Pick<NewCommunication, "agentId" | "direction" | "actionTypes" | "content">,
  { clock, stamp }: { readonly clock: Clock; readonly stamp: () => Stamp },
): NewCommunication {
  const createdMs = Math.floor(clock.nowMs());
  // Postgres keeps no NUL in a text.
  const content = entry.content.replaceAll("\0", "\ufffd");
  return { ...entry, ...stamp(), content, id: newUuid(createdMs), createdMs };
}
