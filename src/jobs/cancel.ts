// Asks that a job ends: all its runs are cancelled together, so that no reader sees half of the wish.

import { type CancelDeps, cancelRunWithin } from "../runs/cancel.ts";
import { listJobRuns, requestJobCancel } from "../storage/job.ts";
import { isActive } from "../storage/run.ts";

export async function cancelJob(deps: CancelDeps, id: string): Promise<void> {
  const announcements = await deps.db.transaction().execute(async (trx) => {
    const active = (await listJobRuns(trx, [id])).filter(({ status }) => isActive(status));
    if (active.length === 0) {
      return [];
    }
    await requestJobCancel(trx, id);
    const announced: (() => void)[] = [];
    // In the order of their ids: whoever else cancels the job waits for the first.
    for (const { run_id: runId } of active) {
      announced.push(await cancelRunWithin(trx, deps, runId));
    }
    return announced;
  });
  for (const announce of announcements) {
    announce();
  }
}
