// Erases the content of a session permanently: in its results, its runs, its transcript and its own row. A purge has many small
// transactions, and each leaves less than it found. So the next purge finishes an interrupted one.

import { Fault } from "../../platform/base/fault.ts";
import type { Db, Transaction } from "../../platform/database/database.ts";
import type { Broadcaster } from "../log/broadcaster.ts";
import { purgeResult } from "../log/purge-result.ts";
import type { Wakeup } from "../log/wakeup.ts";
import { emptyApprovals } from "../storage/approval.ts";
import { deleteCheckpoints } from "../storage/checkpoint.ts";
import { erasedRowsMax } from "../storage/erase.ts";
import {
  type DeletedSession,
  emptyRun,
  emptySession,
  hasActiveRun,
  listChildSessions,
  listDeletedSessions,
  listRunIdsOf,
  replaceResults,
} from "../storage/purge.ts";
import { deletePushConfigsOf } from "../storage/push-config.ts";
import type { Retention } from "../storage/retention.ts";
import { lockRun } from "../storage/run.ts";
import { readResultPage } from "../storage/run-result.ts";
import { deleteRunTexts } from "../storage/run-text.ts";
import { lockSession, markSessionDeleted } from "../storage/session.ts";
import { deleteStateOfSessions } from "../storage/state-value.ts";
import { deleteToolCalls } from "../storage/tool-call.ts";
import { deleteTranscript } from "../storage/transcript.ts";
import { unnameUsage } from "../storage/usage-sum.ts";

const sessionsPerPage = 100;
const runsPerPage = 100;
/** The maximum number of results in one transaction. */
const resultRowsMax = 500;
/** The maximum bytes of results in one transaction. */
const resultBytesMax = 1_048_576;

/** What a purge works with. */
export interface PurgeDeps {
  readonly db: Db;
  readonly broadcaster: Broadcaster;
  readonly wakeup: Wakeup;
  readonly retention: readonly Retention[];
}

/** The outcome of a purge. */
export interface Purged {
  readonly runs: number;
  /** The results that this purge erased, without earlier purges. */
  readonly results: number;
}

interface SessionName {
  readonly client: string;
  readonly name: string;
}

/**
 * Purges every session that the client ever had under the name. A live session is deleted first.
 * @throws Fault SESSION_NOT_FOUND, or SESSION_BUSY while a run is active.
 */
export async function purgeSession(deps: PurgeDeps, target: SessionName): Promise<Purged> {
  await deleteLiving(deps, target);
  let runs = 0;
  let results = 0;
  let after: string | undefined;
  for (;;) {
    const sessions = await listDeletedSessions(deps.db, { ...target, after, limit: sessionsPerPage });
    if (sessions.length === 0) {
      break;
    }
    for (const session of sessions) {
      const purged = await purgeTree(deps, session);
      runs += purged.runs;
      results += purged.results;
    }
    after = sessions.at(-1)?.id;
  }
  if (after === undefined) {
    throw new Fault("SESSION_NOT_FOUND", "session not found");
  }
  return { runs, results };
}

/** Deletes the live session. After it, no session of the name has an active run, and none can start. */
async function deleteLiving(deps: PurgeDeps, target: SessionName): Promise<void> {
  const deleted = await deps.db.transaction().execute(async (trx) => {
    const living = await lockSession(trx, target);
    if (await hasActiveRun(trx, target)) {
      throw new Fault("SESSION_BUSY", "session has an active run: cancel it, and purge when it has ended");
    }
    if (living !== undefined) {
      await markSessionDeleted(trx, living.id);
    }
    return living?.id;
  });
  if (deleted !== undefined) {
    // A reader that waits for the session's first run learns that none will start.
    deps.wakeup.publish({ topic: "session", key: deleted, value: 0 });
  }
}

/** Purges a session after those of its child runs: while one of them is left, the next purge finds it. */
async function purgeTree(deps: PurgeDeps, session: DeletedSession): Promise<Purged> {
  let { runs } = session;
  let results = 0;
  for (const child of await listChildSessions(deps.db, session.id)) {
    const purged = await purgeTree(deps, child);
    runs += purged.runs;
    results += purged.results;
  }
  return { runs, results: results + (session.isPurged ? 0 : await purgeContents(deps, session.id)) };
}

async function purgeContents(deps: PurgeDeps, session: string): Promise<number> {
  const { db, retention } = deps;
  let results = 0;
  let after: string | undefined;
  for (;;) {
    const runs = await listRunIdsOf(db, { session, after, limit: runsPerPage });
    if (runs.length === 0) {
      break;
    }
    for (const runId of runs) {
      results += await purgeRun(deps, runId);
    }
    await deleteToolCalls(db, { runs, rowsMax: erasedRowsMax });
    await emptyApprovals(db, runs);
    await deleteCheckpoints(db, runs);
    await deleteRunTexts(db, runs);
    for (const { purgeRuns } of retention) {
      await purgeRuns?.(db, runs);
    }
    after = runs.at(-1);
  }
  await deleteTranscript(db, { session, rowsMax: erasedRowsMax });
  await deleteStateOfSessions(db, { sessions: [session], rowsMax: erasedRowsMax });
  for (const { deleteOfSessions } of retention) {
    await deleteOfSessions?.(db, [session]);
  }
  await deletePushConfigsOf(db, session);
  await emptySession(db, session);
  return results;
}

async function purgeRun({ db, broadcaster, wakeup }: PurgeDeps, runId: string): Promise<number> {
  let purged = 0;
  let after: number | undefined = 0;
  while (after !== undefined) {
    const from: number = after;
    const page = await db.transaction().execute((trx) => purgePage(trx, runId, from));
    purged += page.purged;
    after = page.reached;
  }
  // Readers then read the purged entries from the log: at once on this replica, on others when the wake-up arrives.
  broadcaster.forget(runId);
  wakeup.publish({ topic: "result", key: runId, value: 0 });
  return purged;
}

/** Purges one page of a run's results, or its row after the last page. The lock of the run makes purges come one by one. */
async function purgePage(
  trx: Transaction,
  runId: string,
  after: number,
): Promise<{ purged: number; reached: number | undefined }> {
  const run = await lockRun(trx, runId);
  const limits = { rowsMax: resultRowsMax, bytesMax: resultBytesMax };
  const rows = run === undefined ? [] : await readResultPage(trx, { runId, after, ...limits });
  const results = rows.flatMap(({ sequence, payload }) => {
    const purged = purgeResult(payload);
    return purged === undefined ? [] : [{ sequence, payload: purged }];
  });
  if (results.length > 0) {
    await replaceResults(trx, { runId, results });
  }
  if (run !== undefined && rows.length === 0) {
    const { terminal } = run;
    await unnameUsage(trx, runId);
    await emptyRun(trx, { id: runId, terminal: terminal && (purgeResult(terminal) ?? terminal) });
  }
  return { purged: results.length, reached: rows.at(-1)?.sequence };
}
