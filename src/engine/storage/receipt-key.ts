// Keys that receipts are signed with. The newest signs.

import { type Selectable, sql } from "kysely";
import type { Db, Transaction } from "../../platform/database/database.ts";
import type { ReceiptKeyTable } from "./schema.ts";

/** With the private key, which goes nowhere but into a signature. */
export type ReceiptKeyRow = Omit<Selectable<ReceiptKeyTable>, "position">;
export type PublicReceiptKeyRow = Omit<ReceiptKeyRow, "private_key">;

const publicColumns = ["kid", "public_key", "create_time"] as const;

/** Until the end of the transaction no other one makes a key. */
export async function lockReceiptKeys(trx: Transaction): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext('runnel receipt key'))`.execute(trx);
}

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

/** What signs now; undefined while there is no key yet. */
export async function findNewestReceiptKey(db: Db | Transaction): Promise<ReceiptKeyRow | undefined> {
  return await db
    .selectFrom("receipt_key")
    .select([...publicColumns, "private_key"])
    .orderBy("position", "desc")
    .limit(1)
    .executeTakeFirst();
}

/** Newest first. */
export async function listReceiptKeys(db: Db): Promise<PublicReceiptKeyRow[]> {
  return await db.selectFrom("receipt_key").select(publicColumns).orderBy("position", "desc").execute();
}
