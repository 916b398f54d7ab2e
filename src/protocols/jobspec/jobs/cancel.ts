// Cancels a job: all its runs are cancelled in one transaction, so no reader sees half of them cancelled. The request is
// recorded only while an unfinished run is locked. So a job that a reader has seen ended never changes.

import { type CancelDeps, cancelRunWithin } from "../../../engine/runs/cancel.ts";
import { lockActiveJobRuns, requestJobCancel } from "../storage/job.ts";

/** Requests the cancellation of every unfinished run of a job. Does nothing when all have ended. */
export async function cancelJob(deps: CancelDeps, id: string): Promise<void> {
  const announcements = await deps.db.transaction().execute(async (trx) => {
    // The lock takes runs in the order of their ids: a concurrent cancellation of the job waits for the first.
    const active = await lockActiveJobRuns(trx, id);
    if (active.length === 0) {
      return [];
    }
    await requestJobCancel(trx, id);
    const announced: (() => void)[] = [];
    for (const runId of active) {
      announced.push(await cancelRunWithin(trx, deps, runId));
    }
    return announced;
  });
  for (const announce of announcements) {
    announce();
  }
}
