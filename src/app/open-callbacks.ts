// What tells the hosts of sessions.

import { randomInt } from "node:crypto";
import { Delivery } from "../engine/callbacks/deliver.ts";
import type { AppContext } from "../platform/context.ts";
import type { Runlog } from "./open-log.ts";

export function openCallbacks(
  { clock, events, connections: { db }, egress, signRequest, closers }: AppContext,
  { wakeup }: Runlog,
): void {
  const random = (): number => randomInt(2 ** 32) / 2 ** 32;
  const delivery = new Delivery({ db, clock, events, wakeup, egress, signRequest, random });
  closers.defer(() => delivery.close());
  delivery.open();
}
