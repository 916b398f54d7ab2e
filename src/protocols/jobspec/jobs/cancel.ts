// Cancels a job: all its runs are cancelled in one transaction, so no reader sees half of them cancelled. The request is
// recorded only while an unfinished run is locked. So a job that a reader has seen ended never changes.

import { type CancelDeps, cancelRunWithin } from "../../../engine/runs/cancel.ts";
import { inTransaction } from "../../../platform/database/in-transaction.ts";
import { lockActiveJobRuns, requestJobCancel } from "../storage/job.ts";

/** Requests the cancellation of every unfinished run of a job. Does nothing when all have ended. */
export async function cancelJob(deps: CancelDeps, id: string): Promise<void> {
  await inTransaction(deps.db, async (trx) => {
    // The lock takes runs in the order of their ids: a concurrent cancellation of the job waits for the first.
    const active = await lockActiveJobRuns(trx, id);
    if (active.length > 0) {
      await requestJobCancel(trx, id);
    }
    for (const runId of active) {
      await cancelRunWithin(trx, deps, runId);
    }
  });
}
