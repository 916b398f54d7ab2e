// Fails a run whose end was acknowledged and that the database has lost. To run it again would repeat what its client knows to
// be done.

import type { Clock } from "../../platform/base/clock.ts";
import type { Db } from "../../platform/database/database.ts";
import type { Events } from "../../platform/telemetry/events.ts";
import type { ResultLog } from "../log/log.ts";
import { insertLost } from "../log/lost-results.ts";
import type { Wakeup } from "../log/wakeup.ts";
import { isActive, lockRun } from "../storage/run.ts";
import { lastSequence } from "../storage/run-result.ts";
import type { FailedEnd } from "./driver.ts";
import { announceEnd, endRun, orEndUnreadable } from "./terminal.ts";

const endLost: FailedEnd = {
  kind: "failed",
  code: "host.results_lost",
  error: "the database lost the end of this run after the service had acknowledged it",
  retryable: false,
};

/** What `failLostEnd` works with. */
export interface LostEndDeps {
  readonly db: Db;
  readonly log: ResultLog;
  readonly wakeup: Wakeup;
  readonly clock: Clock;
  readonly events: Pick<Events, "resultsLost" | "runUnreadable">;
}

/** Fails the run if this replica had acknowledged its end. Returns false when it had not. */
export async function failLostEnd(runId: string, { db, log, wakeup, clock, events }: LostEndDeps): Promise<boolean> {
  const acknowledged = log.acknowledgedEnd(runId);
  if (acknowledged === undefined) {
    return false;
  }
  const { entries, lost, found } = await db.transaction().execute(async (trx) => {
    const run = await lockRun(trx, runId);
    if (run === undefined || !isActive(run.status)) {
      return { entries: [], lost: { callback_url: null, parent_run_id: null }, found: acknowledged };
    }
    const last = await lastSequence(trx, runId);
    const gap = await insertLost(trx, run, { after: last, upTo: acknowledged, timeMs: clock.nowMs() });
    const end = await orEndUnreadable(trx, { run, clock, events }, () => endRun(trx, { run, end: endLost, clock }));
    return { entries: [...gap, ...end], lost: run, found: last };
  });
  if (entries.length > 0) {
    events.resultsLost({ runId, acknowledged, found });
    log.announce(runId, entries);
    announceEnd(wakeup, lost);
  }
  return true;
}
