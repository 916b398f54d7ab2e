// Sessions that have outlived their time: their latest run ended, or they never had one, longer ago than they are kept.
// They go as if their client had deleted them: hidden at once, the name free again, the rows kept for a while.

import { sql } from "kysely";
import type { Transaction } from "../../platform/database/database.ts";

/**
 * Deletes the oldest ones and returns their ids. A session that somebody has locked, to send a message or to delete it, is
 * left for the next pass; nobody is waited for. One that got a message just before its lock was taken is looked at again
 * by Postgres, and stays. Only session rows are locked, so no order of locks can close a circle.
 */
export async function expireSessions(trx: Transaction, args: { ageMs: number; limit: number }): Promise<string[]> {
  const cutoff = sql`now() - ${args.ageMs} * interval '1 millisecond'`;
  const { rows } = await sql<{ id: string }>`
    with expired as materialized (
      select id from session
      where delete_time is null and create_time < ${cutoff} and (
        latest_run_id is null
        or exists (select from run where run.id = session.latest_run_id and run.end_time < ${cutoff}))
      order by create_time limit ${args.limit}
      for no key update skip locked
    )
    update session set delete_time = now() from expired where session.id = expired.id
    returning session.id`.execute(trx);
  return rows.map(({ id }) => id);
}
