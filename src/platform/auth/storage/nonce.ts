// Nonces of signed requests. Each is used at most once across all concurrent requests and replicas.

import { sql } from "kysely";
import type { Db } from "../../database/database.ts";

/** Returns true for the first use. The use is durable when it returns, before the request has any effect. */
export async function useNonce(db: Db, { scope, nonce }: { scope: string; nonce: string }): Promise<boolean> {
  const inserted = await db
    .insertInto("nonce")
    .values({ scope, nonce })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return inserted.numInsertedOrUpdatedRows === 1n;
}

/** Deletes nonces older than `ageMs`, by the database's clock. */
export async function deleteNoncesOlderThan(db: Db, ageMs: number): Promise<void> {
  await db
    .deleteFrom("nonce")
    .where("create_time", "<", sql<Date>`now() - ${ageMs} * interval '1 millisecond'`)
    .execute();
}
