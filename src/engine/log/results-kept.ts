// Checks whether a run's log still exists. An ended run has results, so a run without results is past their retention.

import { Fault } from "../../platform/base/fault.ts";
import type { Db } from "../../platform/database/database.ts";
import { lastSequence } from "../storage/run-result.ts";

/**
 * Call it for an ended run: an empty answer would not show its reader that the log is gone.
 * @throws Fault RESULTS_EXPIRED when the log is past its retention.
 */
export async function assertResultsKept(db: Db, runId: string): Promise<void> {
  if ((await lastSequence(db, runId)) === 0) {
    throw new Fault("RESULTS_EXPIRED", `the results of run ${runId} are no longer kept`);
  }
}
