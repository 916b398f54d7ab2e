// Trusted keys in the database. A key is found by its bytes and changed by its name.

import { type Selectable, sql } from "kysely";
import type { Db, Transaction } from "../../../platform/database/database.ts";
import type { TrustedKeyTable } from "./schema.ts";

/** A trusted key. */
export type TrustedKeyRow = Selectable<TrustedKeyTable>;

/** When a key is valid, for which clients, where and on which runners. */
export interface KeyTerms {
  readonly notBefore: Date | undefined;
  readonly notAfter: Date | undefined;
  readonly clientIds: readonly string[];
  readonly regions: readonly string[];
  readonly runners: readonly string[];
}

const trustedKeyColumns = [
  "kid",
  "public_key",
  "status",
  "not_before",
  "not_after",
  "client_ids",
  "regions",
  "runners",
  "create_time",
  "update_time",
] as const;

/** Inserts a key. Returns undefined when its name or its bytes are taken. */
export async function insertTrustedKey(
  trx: Transaction,
  { kid, publicKey, terms }: { kid: string; publicKey: Uint8Array; terms: KeyTerms },
): Promise<TrustedKeyRow | undefined> {
  return await trx
    .insertInto("trusted_key")
    .values({ kid, public_key: Buffer.from(publicKey), ...columnsOf(terms) })
    .onConflict((conflict) => conflict.doNothing())
    .returning(trustedKeyColumns)
    .executeTakeFirst();
}

/** Returns the key with these bytes, or undefined. */
export async function findTrustedKey(db: Db, publicKey: Uint8Array): Promise<TrustedKeyRow | undefined> {
  return await db
    .selectFrom("trusted_key")
    .select(trustedKeyColumns)
    .where("public_key", "=", Buffer.from(publicKey))
    .executeTakeFirst();
}

/** Returns a key and locks it until the transaction ends; undefined when it is unknown. */
export async function lockTrustedKey(trx: Transaction, kid: string): Promise<TrustedKeyRow | undefined> {
  return await trx
    .selectFrom("trusted_key")
    .select(trustedKeyColumns)
    .where("kid", "=", kid)
    .forUpdate()
    .executeTakeFirst();
}

/** Returns keys in the order of their names. */
export async function listTrustedKeys(
  db: Db,
  { after, limit }: { after: string | undefined; limit: number },
): Promise<TrustedKeyRow[]> {
  return await db
    .selectFrom("trusted_key")
    .select(trustedKeyColumns)
    .$if(after !== undefined, (query) => query.where("kid", ">", after ?? ""))
    .orderBy("kid")
    .limit(limit)
    .execute();
}

/** Sets the terms of a key that exists. */
export async function setTrustedKeyTerms(trx: Transaction, kid: string, terms: KeyTerms): Promise<TrustedKeyRow> {
  return await trx
    .updateTable("trusted_key")
    .set({ ...columnsOf(terms), update_time: sql<Date>`now()` })
    .where("kid", "=", kid)
    .returning(trustedKeyColumns)
    .executeTakeFirstOrThrow();
}

/** Revokes a key that exists. */
export async function revokeTrustedKey(trx: Transaction, kid: string): Promise<TrustedKeyRow> {
  return await trx
    .updateTable("trusted_key")
    .set({ status: "revoked", update_time: sql<Date>`now()` })
    .where("kid", "=", kid)
    .returning(trustedKeyColumns)
    .executeTakeFirstOrThrow();
}

function columnsOf({ notBefore, notAfter, clientIds, regions, runners }: KeyTerms) {
  return {
    not_before: notBefore ?? null,
    not_after: notAfter ?? null,
    client_ids: [...clientIds],
    regions: [...regions],
    runners: [...runners],
  };
}
