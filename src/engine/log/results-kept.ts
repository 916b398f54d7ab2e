// Whether a run's log is still there. A run that has ended has results, so one without any has outlived their retention.

import { Fault } from "../../platform/base/fault.ts";
import type { Db } from "../../platform/database/database.ts";
import { lastSequence } from "../storage/run-result.ts";

/** For a run that has ended: tells its reader that it comes too late, which no empty answer would. */
export async function assertResultsKept(db: Db, runId: string): Promise<void> {
  if ((await lastSequence(db, runId)) === 0) {
    throw new Fault("RESULTS_EXPIRED", `the results of run ${runId} are no longer kept`);
  }
}
