// Answers of creates by the caller's request id. The row is written in the transaction of the create. So a concurrent duplicate
// waits on the key until the first request has committed or failed.

import { sql } from "kysely";
import type { Db, Transaction } from "../../platform/database/database.ts";

/** A request of a client by its id, with the hash of its content. */
export interface IdempotencyKey {
  readonly client: string;
  readonly method: string;
  readonly requestId: string;
  readonly requestHash: Uint8Array;
}

/** The stored answer to a request, with the hash of the request. */
export interface StoredAnswer {
  readonly requestHash: Uint8Array;
  readonly response: Uint8Array;
}

/**
 * Claims the key for this transaction. Returns undefined on success, else the stored answer. A concurrent duplicate waits for
 * the transaction that has the key.
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

/** Returns the stored answer; undefined when it does not exist. */
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

/** Stores the answer of a claimed request, in the transaction that claimed it. */
export async function saveAnswer(trx: Transaction, key: IdempotencyKey, response: Uint8Array): Promise<void> {
  await trx
    .updateTable("idempotency")
    .set({ response: Buffer.from(response) })
    .where("client", "=", key.client)
    .where("method", "=", key.method)
    .where("request_id", "=", key.requestId)
    .execute();
}

/** Stores the answer to a request that claimed nothing; the last request of an id counts. */
export async function putAnswer(db: Db, key: IdempotencyKey, response: Uint8Array): Promise<void> {
  const stored = { request_hash: Buffer.from(key.requestHash), response: Buffer.from(response) };
  await db
    .insertInto("idempotency")
    .values({ client: key.client, method: key.method, request_id: key.requestId, ...stored })
    .onConflict((conflict) => conflict.columns(["client", "method", "request_id"]).doUpdateSet(stored))
    .execute();
}

/** Deletes answers that are older than `ageMs`. */
export async function deleteAnswersOlderThan(db: Db, ageMs: number): Promise<void> {
  await db
    .deleteFrom("idempotency")
    .where("create_time", "<", sql<Date>`now() - ${ageMs} * interval '1 millisecond'`)
    .execute();
}
