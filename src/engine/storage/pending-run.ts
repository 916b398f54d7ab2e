// Runs that wait in their session until the runs before them have ended. They begin in the order of their creation.
//
// W1  From its commit until it is queued or has ended, a pending run keeps its session from starting other runs.
// W2  The input of a pending run becomes a message of its session when the run is queued, after all messages of the runs before.

import { sql } from "kysely";
import type { Db, Transaction } from "../../platform/database/database.ts";
import { isUniqueViolation } from "../../platform/database/errors.ts";
import { callbackOf } from "./callback.ts";
import { runIsActive } from "./run.ts";
import { inputOf } from "./transcript.ts";

/** Counts the runs of a session that have not ended. The session is locked. */
export async function countUnfinishedRuns(trx: Transaction, session: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::float8 as count from run where session = ${session} and ${runIsActive}`.execute(trx);
  return rows[0]?.count ?? 0;
}

/** Returns the pending runs of a session. */
export async function listPendingRuns(trx: Transaction, session: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from run where session = ${session} and status = 'pending' order by create_time, id`.execute(trx);
  return rows.map(({ id }) => id);
}

/** A pending run that is queued now. */
export interface QueuedRun {
  readonly callback_url: string | null;
}

/**
 * Queues the next pending run of sessions whose runs before it have ended. Returns them. Its timeout begins now, or at its start
 * time. Leaves sessions that another transaction has locked. Each step jumps over the runs of a session to the next session, so
 * that the number of runs that wait in one does not matter.
 */
export async function queuePendingRuns(db: Db, limit: number): Promise<QueuedRun[]> {
  try {
    const { rows } = await sql<QueuedRun>`
      with recursive each (session) as (
        (select session from run where status = 'pending' order by session limit 1)
        union all
        select (select session from run where status = 'pending' and session > each.session order by session limit 1)
        from each where each.session is not null
      ), next as materialized (
        select first.id, each.session from each cross join lateral (
          select id from run where session = each.session and status = 'pending' order by create_time, id limit 1
        ) as first
        where not exists (
          select from run where session = each.session and status in ('queued', 'running', 'waiting'))
        limit ${sql.lit(limit)}
      ), held as materialized (
        select next.id, next.session from next cross join lateral (
          select from session where session.id = next.session for no key update skip locked
        ) as locked
      ), queued as (
        update run set status = 'queued', wait_reason = null, wake_at = greatest(now(), wake_at),
          deadline = greatest(now(), wake_at) + (deadline - wake_at)
        from held where run.id = held.id and run.status = 'pending'
        returning run.id, run.client, run.session, run.input, run.last_sequence, run.callback_url
      ), latest as (
        update session set latest_run_id = queued.id from queued where session.id = queued.session
      ), said as (${inputOf("queued")}), called as (${callbackOf("queued", "running")})
      select callback_url from queued`.execute(db);
    return rows;
  } catch (error) {
    // A run of the session began after this statement had looked: the pending one waits for it too.
    if (isUniqueViolation(error, "run_active_of_session")) {
      return [];
    }
    throw error;
  }
}
