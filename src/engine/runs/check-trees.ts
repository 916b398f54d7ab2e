// Looks at the trees of runs after their changes.
//
// T1  A run that waits for child runs continues when they and all below them have ended.
// T2  A run that has ended cancels its child runs.
// T3  A run that waits for child runs has at least their time.
//
// No transaction locks two runs of a tree, so the order of locks cannot cause a deadlock.

import { failpoint } from "../../platform/base/failpoint.ts";
import { findRun, isActive } from "../storage/run.ts";
import {
  deleteTreeChecks,
  listActiveChildren,
  listTreeChecks,
  moveDeadline,
  type TreeCheck,
  wakeParentRun,
} from "../storage/run-tree.ts";
import { type CancelDeps, cancelRun } from "./cancel.ts";

const checksPerPage = 500;

/**
 * Looks at the trees that have changed. Repeatable, also by several replicas at the same time. A run that cannot be looked at keeps no
 * other from its look.
 * @throws the last error of a look, which the next pass repeats.
 */
export async function checkTrees(deps: CancelDeps): Promise<void> {
  const failures: unknown[] = [];
  let checks: readonly TreeCheck[] = [];
  do {
    checks = await listTreeChecks(deps.db, { after: checks.at(-1)?.position ?? 0, limit: checksPerPage });
    for (const [runId, ofRun] of Map.groupBy(checks, (check) => check.runId)) {
      try {
        await checkTree(deps, runId);
        failpoint("tree.checked");
        const positions = ofRun.map(({ position }) => position);
        await deleteTreeChecks(deps.db, positions);
      } catch (error) {
        failures.push(error);
      }
    }
  } while (checks.length === checksPerPage);
  if (failures.length > 0) {
    throw failures.at(-1);
  }
}

async function checkTree(deps: CancelDeps, runId: string): Promise<void> {
  const run = await findRun(deps.db, runId);
  if (run === undefined) {
    return;
  }
  if (isActive(run.status)) {
    if (await wakeParentRun(deps.db, runId)) {
      deps.wakeup.publish({ topic: "queue", key: "", value: 0 });
    } else if ((await moveDeadline(deps.db, runId)) && run.parent_run_id !== null) {
      await checkTree(deps, run.parent_run_id);
    }
    return;
  }
  for (const child of await listActiveChildren(deps.db, runId)) {
    await cancelRun(deps, child);
  }
  // The run above waits for this one and for all below it.
  if (run.parent_run_id !== null) {
    await checkTree(deps, run.parent_run_id);
  }
}
