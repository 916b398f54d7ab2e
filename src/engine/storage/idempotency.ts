// Answers of creates by the caller's request id. The row is written in the transaction of the create, so a twin that
// comes meanwhile waits on the key until the first one has committed or failed.

import { sql } from "kysely";
import type { Db, Transaction } from "../../platform/database/database.ts";

export interface IdempotencyKey {
  readonly client: string;
  readonly method: string;
  readonly requestId: string;
  readonly requestHash: Uint8Array;
}

export interface StoredAnswer {
  readonly requestHash: Uint8Array;
  readonly response: Uint8Array;
}

/**
 * Claims the key for this transaction; undefined on success, else the answer that was given before. A twin's claim waits
 * for the transaction that has it.
 */
export async function claimRequest(trx: Transaction, key: IdempotencyKey): Promise<StoredAnswer | undefined> {
  const inserted = await trx
    .insertInto("idempotency")
    .values({
      client: key.client,
      method: key.method,
      request_id: key.requestId,
      request_hash: Buffer.from(key.requestHash),
      response: Buffer.alloc(0),
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  if (inserted.numInsertedOrUpdatedRows === 1n) {
    return undefined;
  }
  const answer = await findAnswer(trx, key);
  if (answer === undefined) {
    throw new Error(`the answer to ${key.requestId} was deleted while it was asked for`);
  }
  return answer;
}

/** The answer that was given; undefined while there is none. */
export async function findAnswer(db: Db | Transaction, key: IdempotencyKey): Promise<StoredAnswer | undefined> {
  const row = await db
    .selectFrom("idempotency")
    .select(["request_hash", "response"])
    .where("client", "=", key.client)
    .where("method", "=", key.method)
    .where("request_id", "=", key.requestId)
    .executeTakeFirst();
  return row && { requestHash: row.request_hash, response: row.response };
}

/** Keeps the answer of a claimed request, in the transaction that claimed it. */
export async function saveAnswer(trx: Transaction, key: IdempotencyKey, response: Uint8Array): Promise<void> {
  await trx
    .updateTable("idempotency")
    .set({ response: Buffer.from(response) })
    .where("client", "=", key.client)
    .where("method", "=", key.method)
    .where("request_id", "=", key.requestId)
    .execute();
}

export async function deleteAnswersOlderThan(db: Db, ageMs: number): Promise<void> {
  await db
    .deleteFrom("idempotency")
    .where("create_time", "<", sql<Date>`now() - ${ageMs} * interval '1 millisecond'`)
    .execute();
}
