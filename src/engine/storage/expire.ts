// Expires sessions whose latest run ended longer ago than they are kept, and sessions of that age without a run. An expired
// session looks deleted by its client: hidden at once, the name free again, the rows kept for a while.

import { sql } from "kysely";
import { asQuery } from "../../platform/database/as-query.ts";
import type { Transaction } from "../../platform/database/database.ts";

/** Where a look at old sessions ended. */
export interface SessionPlace {
  readonly createTime: string;
  readonly id: string;
}

/** What a look found. */
export interface ExpiredSessions {
  readonly ids: string[];
  /** The place after which the next look begins; undefined when the look reached the end. */
  readonly next: SessionPlace | undefined;
}

const beginning: SessionPlace = { createTime: "-infinity", id: "00000000-0000-0000-0000-000000000000" };

/**
 * Looks at the oldest sessions after a place, at most `limit`, and expires those that are due: many old ones may be in use. A session
 * that another transaction has locked, to send a message or to delete it, is left for a later pass without waiting. Postgres checks a
 * session again that got a message just before its lock, and it stays. Only session rows are locked, so the order of locks cannot cause a
 * deadlock.
 */
export async function expireSessions(
  trx: Transaction,
  { ageMs, after = beginning, limit }: { ageMs: number; after?: SessionPlace | undefined; limit: number },
): Promise<ExpiredSessions> {
  const cutoff = sql`now() - ${asQuery(ageMs, "float8")} * interval '1 millisecond'`;
  // Without the offset the planner may read all runs that ended before the cutoff: it expects few when its statistics are older.
  // The condition for sessions that are not deleted repeats that of its index.
  const { rows } = await sql<{ createTime: string; id: string; isExpired: boolean }>`
    with looked as materialized (
      select id, create_time from session
      where coalesce(delete_time, 'infinity') = 'infinity' and create_time < ${cutoff}
        and (create_time, id) > (${asQuery(after.createTime, "timestamptz")}, ${asQuery(after.id, "uuid")})
      order by create_time, id limit ${sql.lit(limit)}
    ), due as materialized (
      select session.id from looked cross join lateral (
        select id from session where id = looked.id and coalesce(delete_time, 'infinity') = 'infinity' and (
          latest_run_id is null
          or exists (select from run where run.id = session.latest_run_id and run.end_time < ${cutoff} offset 0))
        for no key update skip locked
      ) as session
    ), expired as (
      update session set delete_time = now() from due where session.id = due.id returning session.id
    )
    select looked.create_time::text as "createTime", looked.id, expired.id is not null as "isExpired"
    from looked left join expired using (id) order by looked.create_time, looked.id`.execute(trx);
  return {
    ids: rows.filter(({ isExpired }) => isExpired).map(({ id }) => id),
    next: rows.length < limit ? undefined : rows.at(-1),
  };
}
