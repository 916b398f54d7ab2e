// The leases of replicas. Only the database's clock counts: no clock of a replica decides whether a lease holds.

import { sql } from "kysely";
import type { Db, Transaction } from "../../platform/database/database.ts";
import { serverStart, shownMs } from "../../platform/database/time.ts";

/** Inserts a replica with a lease. Returns the time of the database's clock, in milliseconds. */
export async function insertReplica(db: Db, args: { id: string; leaseMs: number }): Promise<number> {
  const row = await db
    .insertInto("replica")
    .values({ id: args.id, lease_until: leaseEnd(args.leaseMs) })
    .returning(shownMs.as("shown_ms"))
    .executeTakeFirstOrThrow();
  return row.shown_ms;
}

/**
 * Extends the lease, and returns the time of the database's clock in milliseconds. The lease may have expired before: while the
 * row exists, no other replica has taken over. Returns undefined when the row is gone; the replica then writes nothing under
 * this id.
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

/**
 * Deletes one replica with an expired lease and returns its id. Skips a replica that another transaction deletes, or that is
 * just writing. Returns undefined when there is nothing to delete, and on a server that started at another time: its replicas
 * first have to get time to renew.
 */
export async function takeExpiredReplica(trx: Transaction, askedServerStart: string): Promise<string | undefined> {
  const expired = await trx
    .selectFrom("replica")
    .select("id")
    .where("lease_until", "<", sql<Date>`now()`)
    .where(serverStart, "=", askedServerStart)
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

/** Deletes a replica. Its runs are then free to take. */
export async function deleteReplica(db: Db | Transaction, id: string): Promise<void> {
  await db.deleteFrom("replica").where("id", "=", id).execute();
}

function leaseEnd(leaseMs: number) {
  return sql<Date>`now() + ${leaseMs} * interval '1 millisecond'`;
}
