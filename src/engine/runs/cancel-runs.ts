// Cancels many runs of a client, in bounded transactions. A call that is interrupted has cancelled some of them.

import { inTransaction } from "../../platform/database/in-transaction.ts";
import { listRunsToCancel, lockRunsToCancel } from "../storage/client-run.ts";
import type { RunFilter } from "../storage/run-filter.ts";
import { type CancelDeps, cancelRunWithin } from "./cancel.ts";

/** The maximum number of runs of one transaction. It bounds how long the others wait for their locks. */
const runsPerTransaction = 100;

/** Cancels the active runs that match the filter. Returns how many had no cancel request before. */
export async function cancelRuns(deps: CancelDeps, filter: RunFilter): Promise<number> {
  let cancelled = 0;
  let before: string | undefined;
  do {
    const { rows, next } = await listRunsToCancel(deps.db, filter, { before, limit: runsPerTransaction });
    const ids = rows.map(({ id }) => id);
    const free = new Set(await cancelEach(deps, { ids, skipLocked: true }));
    cancelled += free.size;
    // Alone, because a transaction that waits for one run while it holds others may deadlock.
    for (const id of ids.filter((each) => !free.has(each))) {
      cancelled += (await cancelEach(deps, { ids: [id], skipLocked: false })).length;
    }
    before = next;
  } while (before !== undefined);
  return cancelled;
}

/** Cancels runs in one transaction. Returns the ids of those that it cancelled. */
async function cancelEach(
  deps: CancelDeps,
  asked: { readonly ids: readonly string[]; readonly skipLocked: boolean },
): Promise<readonly string[]> {
  return await inTransaction(deps.db, async (trx) => {
    const locked = await lockRunsToCancel(trx, asked);
    for (const id of locked) {
      await cancelRunWithin(trx, deps, id);
    }
    return locked;
  });
}
