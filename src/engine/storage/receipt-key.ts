// The keys that sign receipts. The newest key signs.

import { type Selectable, sql } from "kysely";
import type { Db, Transaction } from "../../platform/database/database.ts";
import type { ReceiptKeyTable } from "./schema.ts";

/** A key with its private part, which is used only to sign. */
export type ReceiptKeyRow = Omit<Selectable<ReceiptKeyTable>, "position">;
/** A key without its private part. */
export type PublicReceiptKeyRow = Omit<ReceiptKeyRow, "private_key">;

const publicColumns = ["kid", "public_key", "create_time"] as const;

/** Prevents other transactions from creating a key until this one ends. */
export async function lockReceiptKeys(trx: Transaction): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext('runnel receipt key'))`.execute(trx);
}

/** Inserts a key, which is the newest from then on. */
export async function insertReceiptKey(
  trx: Transaction,
  key: { kid: string; privateKey: Uint8Array; publicKey: Uint8Array },
): Promise<ReceiptKeyRow> {
  return await trx
    .insertInto("receipt_key")
    .values({
      kid: key.kid,
      private_key: Buffer.from(key.privateKey),
      public_key: Buffer.from(key.publicKey),
    })
    .returning([...publicColumns, "private_key"])
    .executeTakeFirstOrThrow();
}

/** Returns the key that signs now; undefined before the first key exists. */
export async function findNewestReceiptKey(db: Db | Transaction): Promise<ReceiptKeyRow | undefined> {
  return await db
    .selectFrom("receipt_key")
    .select([...publicColumns, "private_key"])
    .orderBy("position", "desc")
    .limit(1)
    .executeTakeFirst();
}

/** Returns all keys, newest first. */
export async function listReceiptKeys(db: Db): Promise<PublicReceiptKeyRow[]> {
  return await db.selectFrom("receipt_key").select(publicColumns).orderBy("position", "desc").execute();
}
