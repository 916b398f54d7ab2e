// Expires sessions whose latest run ended longer ago than they are kept, and sessions of that age without a run. An expired
// session looks deleted by its client: hidden at once, the name free again, the rows kept for a while.

import { sql } from "kysely";
import type { Transaction } from "../../platform/database/database.ts";

/**
 * Expires the oldest sessions and returns their ids. A session that another transaction has locked, to send a message or to
 * delete it, is left for the next pass without waiting. Postgres checks a session again that got a message just before its
 * lock, and it stays. Only session rows are locked, so the order of locks cannot cause a deadlock.
 */
export async function expireSessions(trx: Transaction, args: { ageMs: number; limit: number }): Promise<string[]> {
  const cutoff = sql`now() - ${args.ageMs} * interval '1 millisecond'`;
  // The condition for sessions that are not deleted repeats that of its index.
  const { rows } = await sql<{ id: string }>`
    with expired as materialized (
      select id from session
      where coalesce(delete_time, 'infinity') = 'infinity' and create_time < ${cutoff} and (
        latest_run_id is null
        or exists (select from run where run.id = session.latest_run_id and run.end_time < ${cutoff}))
      order by create_time limit ${args.limit}
      for no key update skip locked
    )
    update session set delete_time = now() from expired where session.id = expired.id
    returning session.id`.execute(trx);
  return rows.map(({ id }) => id);
}
