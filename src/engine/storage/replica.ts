// Leases of replicas. Time is the database's alone: no clock of a replica decides whether a lease holds.

import { sql } from "kysely";
import type { Db, Transaction } from "../../platform/database/database.ts";
import { shownMs } from "../../platform/database/time.ts";

/** Returns what the database's clock shows. */
export async function insertReplica(db: Db, args: { id: string; leaseMs: number }): Promise<number> {
  const row = await db
    .insertInto("replica")
    .values({ id: args.id, lease_until: leaseEnd(args.leaseMs) })
    .returning(shownMs.as("shown_ms"))
    .executeTakeFirstOrThrow();
  return row.shown_ms;
}

/**
 * Extends the lease, and returns what the database's clock shows. The lease may have ended meanwhile: as long as the row is
 * there nobody has taken over. Undefined when the row is gone: the replica writes nothing under this id any more.
 */
export async function renewReplica(db: Db, args: { id: string; leaseMs: number }): Promise<number | undefined> {
  const row = await db
    .updateTable("replica")
    .set({ lease_until: leaseEnd(args.leaseMs) })
    .where("id", "=", args.id)
    .returning(shownMs.as("shown_ms"))
    .executeTakeFirst();
  return row?.shown_ms;
}

/** Takes one replica whose lease has ended out of the table, unless somebody else does so or it is just writing. */
export async function takeExpiredReplica(trx: Transaction): Promise<string | undefined> {
  const expired = await trx
    .selectFrom("replica")
    .select("id")
    .where("lease_until", "<", sql<Date>`now()`)
    .orderBy("lease_until")
    .limit(1)
    .forUpdate()
    .skipLocked()
    .executeTakeFirst();
  if (expired === undefined) {
    return undefined;
  }
  await deleteReplica(trx, expired.id);
  return expired.id;
}

export async function deleteReplica(db: Db | Transaction, id: string): Promise<void> {
  await db.deleteFrom("replica").where("id", "=", id).execute();
}

function leaseEnd(leaseMs: number) {
  return sql<Date>`now() + ${leaseMs} * interval '1 millisecond'`;
}
