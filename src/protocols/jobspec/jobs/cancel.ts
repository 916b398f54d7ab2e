// Asks that a job ends: all its runs are cancelled together, so that no reader sees half of the wish. The wish is recorded only
// while a run is held that has not ended, so a job that somebody has seen ended stays what it was.

import { type CancelDeps, cancelRunWithin } from "../../../engine/runs/cancel.ts";
import { lockActiveJobRuns, requestJobCancel } from "../storage/job.ts";

export async function cancelJob(deps: CancelDeps, id: string): Promise<void> {
  const announcements = await deps.db.transaction().execute(async (trx) => {
    // In the order of their ids: whoever else cancels the job waits for the first.
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
