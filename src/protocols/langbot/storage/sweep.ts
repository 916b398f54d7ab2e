// Deletes what workers leave behind: sessions that they do not use any more, and reports whose sender no longer waits.

import { sql } from "kysely";
import type { Db } from "../../../platform/database/database.ts";

/** Deletes worker sessions that were not seen for `ageMs`. Returns the number of deleted rows. */
export async function deleteUnseenWorkerSessions(db: Db, args: { ageMs: number; limit: number }): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from worker_session where id in (
      select id from worker_session where seen_time < now() - ${args.ageMs} * interval '1 millisecond'
      order by seen_time limit ${sql.lit(args.limit)})`.execute(db);
  return Number(numAffectedRows);
}

/** Deletes forwarded reports older than `ageMs`. Returns the number of deleted rows. */
export async function deleteOldForwardedReports(db: Db, args: { ageMs: number; limit: number }): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from forwarded_report where id in (
      select id from forwarded_report where create_time < now() - ${args.ageMs} * interval '1 millisecond'
      order by create_time limit ${sql.lit(args.limit)})`.execute(db);
  return Number(numAffectedRows);
}
