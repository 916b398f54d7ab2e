// Marks results that were acknowledged and that the database has lost: a standby that had not received them was promoted, or a
// backup was restored under a running service. Each lost result gets a `result.lost` in its place, so that no sequence is used
// twice and the log has no gap. The run then continues, or fails, as after the loss of its replica.

import type { Transaction } from "../../platform/database/database.ts";
import { disownRun, lockOwnRun, type OwnedRun } from "../storage/run.ts";
import { insertResults } from "../storage/run-result.ts";
import { encodeResult, type LogEntry } from "./result.ts";

const rowsPerInsert = 1_000;

/** A run whose log should reach `acknowledged`. */
export interface AcknowledgedLog {
  readonly runId: string;
  readonly epoch: number;
  readonly replicaId: string;
  readonly acknowledged: number;
}

/** How far the log reaches in this database, and the entries that mark the missing results. */
export interface MarkedLoss {
  readonly found: number;
  readonly entries: readonly LogEntry[];
}

/**
 * Marks the lost results of a run and disowns it, so that a reaper continues or fails it. Marks nothing when the run does not
 * exist in this database, or has another owner there.
 */
export async function markLostResults(trx: Transaction, log: AcknowledgedLog, timeMs: number): Promise<MarkedLoss> {
  const run = await lockOwnRun(trx, { id: log.runId, replicaId: log.replicaId });
  const found = run?.log_length ?? 0;
  if (run === undefined || !isFree(run, log)) {
    return { found, entries: [] };
  }
  const entries = await insertLost(trx, run, { after: found, upTo: log.acknowledged, timeMs });
  await disownRun(trx, { id: run.id, owner: log.replicaId });
  return { found, entries };
}

/** Writes a `result.lost` for each missing sequence of a locked run. */
export async function insertLost(
  trx: Transaction,
  run: { readonly id: string; readonly epoch: number },
  { after, upTo, timeMs }: { readonly after: number; readonly upTo: number; readonly timeMs: number },
): Promise<LogEntry[]> {
  const entries = Array.from({ length: Math.max(0, upTo - after) }, (_, index) =>
    encodeResult(
      { payload: { case: "resultLost", value: {} } },
      { runId: run.id, sequence: after + 1 + index, timeMs },
    ),
  );
  for (let from = 0; from < entries.length; from += rowsPerInsert) {
    const rows = entries.slice(from, from + rowsPerInsert);
    await insertResults(
      trx,
      rows.map(({ sequence, bytes }) => ({ runId: run.id, sequence, epoch: run.epoch, payload: bytes })),
    );
  }
  return entries;
}

/** Returns whether no other replica writes the log. The database may also have lost that this replica had claimed the run. */
function isFree({ status, owner, epoch }: OwnedRun, log: AcknowledgedLog): boolean {
  return (
    (owner === log.replicaId && epoch === log.epoch) || (status === "queued" && owner === null && epoch < log.epoch)
  );
}
