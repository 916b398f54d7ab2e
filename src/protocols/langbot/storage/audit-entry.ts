// The audit of runs: their calls to the host API, and whether they were allowed. Rows are only added, and deleted past their
// retention.

import { type Insertable, sql } from "kysely";
import type { Db, Transaction } from "../../../platform/database/database.ts";
import type { AuditEntryTable } from "./schema.ts";

/** A new audit entry. */
export type NewAuditEntry = Omit<Insertable<AuditEntryTable>, "create_time">;

/** Inserts an entry. A repetition with the same id changes nothing: the answer to the first try may have been lost. */
export async function insertAuditEntry(db: Db | Transaction, entry: NewAuditEntry): Promise<void> {
  await db
    .insertInto("audit_entry")
    .values(entry)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Deletes entries past their retention. Returns the number of deleted rows. */
export async function deleteAuditEntries(db: Db, args: { createdBefore: string; limit: number }): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from audit_entry where id in (
      select id from audit_entry where id < ${args.createdBefore} order by id limit ${sql.lit(args.limit)})`.execute(
    db,
  );
  return Number(numAffectedRows);
}
