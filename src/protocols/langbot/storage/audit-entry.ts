// The audit of runs: what they asked of their host, and whether it was allowed. Rows are added, and go when they are old.

import { type Insertable, sql } from "kysely";
import type { Db, Transaction } from "../../../platform/database/database.ts";
import type { AuditEntryTable } from "./schema.ts";

export type NewAuditEntry = Omit<Insertable<AuditEntryTable>, "create_time">;

/** Once for an id, however often it is tried: the answer to the first try may have been lost. */
export async function insertAuditEntry(db: Db | Transaction, entry: NewAuditEntry): Promise<void> {
  await db
    .insertInto("audit_entry")
    .values(entry)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Gives the number that went. */
export async function deleteAuditEntries(db: Db, args: { createdBefore: string; limit: number }): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from audit_entry where id in (
      select id from audit_entry where id < ${args.createdBefore} order by id limit ${args.limit})`.execute(db);
  return Number(numAffectedRows);
}
