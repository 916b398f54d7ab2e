// Opens the delivery of status callbacks.

import { Delivery } from "../engine/callbacks/deliver.ts";
import { random } from "../platform/base/random.ts";
import type { AppContext } from "../platform/context.ts";
import type { Runlog } from "./open-log.ts";

/** Starts the delivery on this replica. */
export function openCallbacks(
  { clock, events, connections: { db }, egress, signRequest, closers }: AppContext,
  { wakeup }: Runlog,
): void {
  const delivery = new Delivery({ db, clock, events, wakeup, egress, signRequest, random });
  closers.defer(() => delivery.close());
  delivery.open();
}
