// Counts the active runs of all replicas, and locks their admission.

import { type RawBuilder, sql } from "kysely";
import { textArray } from "../../platform/database/binary-array.ts";
import type { Db, Transaction } from "../../platform/database/database.ts";

/** Which active runs count. */
export interface ActiveScope {
  /** The client whose runs count; undefined for all clients. */
  readonly client?: string | undefined;
  /** Drivers whose waiting runs do not count. */
  readonly freeWhileWaiting: readonly string[];
}

/**
 * Returns SQL that counts active runs. The statuses are literals, so that every cached plan can use the partial index of active
 * runs.
 */
export function activeRuns({ client, freeWhileWaiting }: ActiveScope): RawBuilder<number> {
  const whose = client === undefined ? sql`` : sql` and client = ${client}`;
  const isFree = sql`status = 'waiting' and driver = any(${textArray(freeWhileWaiting)}::text[])`;
  return sql<number>`(select count(*) from run where status in ('queued', 'running', 'waiting') and not (${isFree})${whose})`;
}

/** Counts the active runs on all replicas, of one client or of all. */
export async function countActiveRuns(db: Db | Transaction, scope: ActiveScope): Promise<number> {
  const { rows } = await sql<{ count: number }>`select ${activeRuns(scope)} as count`.execute(db);
  return rows[0]?.count ?? 0;
}

/** Locks the admission of runs, of all clients or of this one, until the transaction ends. */
export async function lockAdmission(trx: Transaction, client?: string): Promise<void> {
  const name = client === undefined ? "runnel admission" : `runnel admission of ${client}`;
  await sql`select pg_advisory_xact_lock(hashtext(${name}))`.execute(trx);
}
