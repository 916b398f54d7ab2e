// Nonces of JobSpecs. Each is used once, across all replicas and concurrent calls.

import { sql } from "kysely";
import type { Db, Transaction } from "../../../platform/database/database.ts";

/** Records the use of a nonce by a key. Returns true for the first use. A concurrent use waits for the end of the transaction. */
export async function useJobNonce(
  trx: Transaction,
  { publicKey, nonce }: { publicKey: Uint8Array; nonce: string },
): Promise<boolean> {
  const inserted = await trx
    .insertInto("job_nonce")
    .values({ public_key: Buffer.from(publicKey), nonce })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return inserted.numInsertedOrUpdatedRows === 1n;
}

/** Deletes nonces that are older than `ageMs`. */
export async function deleteJobNoncesOlderThan(db: Db, ageMs: number): Promise<void> {
  await db
    .deleteFrom("job_nonce")
    .where("create_time", "<", sql<Date>`now() - ${ageMs} * interval '1 millisecond'`)
    .execute();
}
