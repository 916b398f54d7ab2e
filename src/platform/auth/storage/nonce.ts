// Nonces of signed requests: each is used once, whatever the concurrency and however many replicas there are.

import { sql } from "kysely";
import type { Db } from "../../database/database.ts";

/** True for the first use. Durable when it returns, before anything that the request does. */
export async function useNonce(db: Db, { scope, nonce }: { scope: string; nonce: string }): Promise<boolean> {
  const inserted = await db
    .insertInto("nonce")
    .values({ scope, nonce })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return inserted.numInsertedOrUpdatedRows === 1n;
}

export async function deleteNoncesOlderThan(db: Db, ageMs: number): Promise<void> {
  await db
    .deleteFrom("nonce")
    .where("create_time", "<", sql<Date>`now() - ${ageMs} * interval '1 millisecond'`)
    .execute();
}
