// The leases of replicas. Only the database's clock counts: no clock of a replica decides whether a lease holds.

import { sql } from "kysely";
import type { Db, Transaction } from "../../platform/database/database.ts";
import { serverStart, shownMs } from "../../platform/database/time.ts";

/** What operators see of a replica. */
export interface ReplicaAbout {
  readonly version: string;
  /** The number of runs that it works on at once. */
  readonly slots: number;
}

/** Inserts a replica with a lease. Returns the time of the database's clock, in milliseconds. */
export async function insertReplica(
  db: Db,
  { id, leaseMs, about }: { id: string; leaseMs: number; about?: ReplicaAbout | undefined },
): Promise<number> {
  const row = await db
    .insertInto("replica")
    .values({ id, lease_until: leaseEnd(leaseMs), version: about?.version ?? null, slots: about?.slots ?? null })
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

/** A replica as operators see it. */
export interface ReplicaRow {
  readonly id: string;
  readonly version: string | null;
  readonly slots: number | null;
  readonly start_time: Date;
  readonly lease_until: Date;
  /** The number of runs that it works on. */
  readonly runs: number;
}

/** Returns all replicas, oldest first. */
export async function listReplicas(db: Db): Promise<ReplicaRow[]> {
  const { rows } = await sql<ReplicaRow>`
    select id, version, slots, start_time, lease_until,
      (select count(*)::int from run where run.owner = replica.id and run.status = 'running') as runs
    from replica order by start_time, id`.execute(db);
  return rows;
}

/** The runs of all clients that have not ended and that no replica works on. */
export interface QueueRow {
  readonly queued: number;
  readonly waiting: number;
  readonly pending: number;
  /** The time since when the oldest queued run could have begun; null without one. */
  readonly oldest_due: Date | null;
}

/** Counts the runs that wait. */
export async function readQueue(db: Db): Promise<QueueRow> {
  const { rows } = await sql<QueueRow>`
    select (select count(*)::int from run where status = 'queued') as queued,
      (select count(*)::int from run where status = 'waiting') as waiting,
      (select count(*)::int from run where status = 'pending') as pending,
      (select min(wake_at) from run where status = 'queued' and wake_at <= now()) as oldest_due`.execute(db);
  return rows[0] as QueueRow;
}

/** Deletes a replica. Its runs are then free to take. */
export async function deleteReplica(db: Db | Transaction, id: string): Promise<void> {
  await db.deleteFrom("replica").where("id", "=", id).execute();
}

function leaseEnd(leaseMs: number) {
  return sql<Date>`now() + ${leaseMs} * interval '1 millisecond'`;
}
