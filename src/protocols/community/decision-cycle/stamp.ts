// Entries of the communication log with the stamp of the process that writes them.

import type { Clock } from "../../../platform/base/clock.ts";
import { newUuid } from "../../../platform/base/ids.ts";
import type { NewCommunication } from "../storage/communication.ts";

/** The process that writes an entry. */
export type Stamp = Pick<NewCommunication, "instanceId" | "port" | "pid">;

/** Makes an entry of the communication log with an id, the time and the stamp of this process. */
export function communicationOf(
  entry: Pick<NewCommunication, "agentId" | "direction" | "actionTypes" | "content">,
  { clock, stamp }: { readonly clock: Clock; readonly stamp: () => Stamp },
): NewCommunication {
  const createdMs = Math.floor(clock.nowMs());
  // Postgres texts cannot hold NUL.
  const content = entry.content.replaceAll("\0", "\ufffd");
  return { ...entry, ...stamp(), content, id: newUuid(createdMs), createdMs };
}
