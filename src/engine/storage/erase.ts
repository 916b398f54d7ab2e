// Deletes rows past their retention. Every statement is its own transaction and touches a bounded number of rows, children
// before parents. So a pass that stops anywhere simply continues with the next one.

import { sql } from "kysely";
import { uuidArray } from "../../platform/database/binary-array.ts";
import type { Db } from "../../platform/database/database.ts";
import { deleteApprovals } from "./approval.ts";
import { deleteCallbacks } from "./callback.ts";
import { deleteCheckpoints } from "./checkpoint.ts";
import type { Retention } from "./retention.ts";
import { deleteRunTexts } from "./run-text.ts";
import { deleteStateOfSessions } from "./state-value.ts";
import { deleteToolCalls } from "./tool-call.ts";
import { deleteTranscript } from "./transcript.ts";

/** The maximum number of rows in a statement: enough to be worth its commit, few enough to hold no lock for long. */
export const erasedRowsMax = 500;

/** A session whose rows are past their retention. */
export interface ErasableSession {
  readonly id: string;
  readonly client: string;
}

/** Returns sessions that were deleted, and whose runs all ended, longer than `keptMs` ago; longest ago first. */
export async function listErasableSessions(
  db: Db,
  args: { keptMs: number; limit: number },
): Promise<ErasableSession[]> {
  const cutoff = sql`now() - ${args.keptMs} * interval '1 millisecond'`;
  const { rows } = await sql<ErasableSession>`
    select id, client from session
    where delete_time < ${cutoff} and not exists (
      select from run where run.session = session.id and (run.end_time is null or run.end_time >= ${cutoff}))
    order by delete_time limit ${sql.lit(args.limit)}`.execute(db);
  return rows;
}

/** Deletes all rows that belong to the sessions, but not the session rows. Returns how many runs there were. */
export async function eraseContents(
  db: Db,
  sessions: readonly string[],
  retention: readonly Retention[],
): Promise<number> {
  for (const session of sessions) {
    await deleteTranscript(db, { session, rowsMax: erasedRowsMax });
  }
  await deleteCallbacks(db, { sessions, rowsMax: erasedRowsMax });
  await deleteStateOfSessions(db, { sessions, rowsMax: erasedRowsMax });
  for (const { deleteOfSessions } of retention) {
    await deleteOfSessions?.(db, sessions);
  }
  let erased = 0;
  for (;;) {
    const runs = await listRunIds(db, sessions);
    if (runs.length === 0) {
      return erased;
    }
    await deleteToolCalls(db, { runs, rowsMax: erasedRowsMax });
    await deleteApprovals(db, { runs, rowsMax: erasedRowsMax });
    await deleteCheckpoints(db, runs);
    await deleteRunTexts(db, runs);
    for (const { deleteOfRuns } of retention) {
      await deleteOfRuns?.(db, runs);
    }
    await sql`delete from run where id = any(${uuidArray(runs)}::uuid[])`.execute(db);
    erased += runs.length;
  }
}

/** Deletes the session rows. This is the last step: no other rows refer to them. */
export async function eraseSessions(db: Db, sessions: readonly string[]): Promise<void> {
  await sql`delete from session where id = any(${uuidArray(sessions)}::uuid[])`.execute(db);
}

/** Deletes the usage of clients, which is kept by the day, from more than `daysKept` days ago. */
export async function deleteUsageBefore(db: Db, daysKept: number): Promise<void> {
  await sql`delete from client_usage where day < (now() at time zone 'utc')::date - ${daysKept}::int`.execute(db);
}

async function listRunIds(db: Db, sessions: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from run where session = any(${uuidArray(sessions)}::uuid[]) limit ${sql.lit(erasedRowsMax)}`.execute(db);
  return rows.map(({ id }) => id);
}
