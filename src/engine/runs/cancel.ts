// Cancels a run. The request becomes durable first. Then the replica that works on the run stops it; a run without an owner is
// ended here.

import type { Clock } from "../../platform/base/clock.ts";
import type { Db, Transaction } from "../../platform/database/database.ts";
import { afterCommit, inTransaction } from "../../platform/database/in-transaction.ts";
import type { ResultLog } from "../log/log.ts";
import type { LogEntry } from "../log/result.ts";
import type { Wakeup } from "../log/wakeup.ts";
import { isActive, lockRun, requestCancel } from "../storage/run.ts";
import type { Dispatcher } from "./dispatch.ts";
import { announceEnd, cancelled, endRun } from "./terminal.ts";

/** What a cancel works with. */
export interface CancelDeps {
  readonly db: Db;
  readonly clock: Clock;
  readonly log: ResultLog;
  readonly wakeup: Wakeup;
  readonly dispatcher: Pick<Dispatcher, "stopRun">;
}

/** Cancels a run; does nothing when it has ended. */
export async function cancelRun(deps: CancelDeps, runId: string): Promise<void> {
  await inTransaction(deps.db, (trx) => cancelRunWithin(trx, deps, runId));
}

/** Cancels within a caller's transaction of `inTransaction`, whose commit announces it. */
export async function cancelRunWithin(trx: Transaction, deps: CancelDeps, runId: string): Promise<void> {
  const run = await lockRun(trx, runId);
  if (run === undefined || !isActive(run.status)) {
    return;
  }
  await requestCancel(trx, runId);
  if (run.status === "running") {
    afterCommit(trx, () => {
      // Stops the run on this replica at once, on another one by the wake-up.
      deps.dispatcher.stopRun(runId, "cancelled");
      deps.wakeup.publish({ topic: "cancel", key: runId, value: 0 });
    });
    return;
  }
  const entries: LogEntry[] = await endRun(trx, { run, end: cancelled, clock: deps.clock });
  afterCommit(trx, () => {
    deps.log.announce(runId, entries);
    announceEnd(deps.wakeup, run);
  });
}
