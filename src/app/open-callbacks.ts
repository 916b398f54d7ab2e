// Opens the delivery of status callbacks and pushes.

import { Delivery } from "../engine/callbacks/deliver.ts";
import type { PrintPush } from "../platform/base/pushes.ts";
import { random } from "../platform/base/random.ts";
import type { AppContext } from "../platform/context.ts";
import type { Runlog } from "./open-log.ts";

/** Starts the delivery on this replica. */
export function openCallbacks(
  { clock, events, connections: { db }, egress, signRequest, closers }: AppContext,
  { wakeup }: Runlog,
  printPush: PrintPush,
): void {
  const delivery = new Delivery({ db, clock, events, wakeup, egress, signRequest, printPush, random });
  closers.defer(() => delivery.close());
  delivery.open();
}
