// The service's own keys for receipts. The first one is created when it is first needed, once over all replicas.

import { createPrivateKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { exportPublicKey, thumbprint } from "../../platform/base/public-key.ts";
import type { Db, Transaction } from "../../platform/database/database.ts";
import {
  findNewestReceiptKey,
  insertReceiptKey,
  listReceiptKeys,
  lockReceiptKeys,
  type PublicReceiptKeyRow,
  type ReceiptKeyRow,
} from "../storage/receipt-key.ts";

/** The key that signs now. */
export interface SigningKey {
  readonly kid: string;
  readonly createTime: Date;
  readonly publicKey: Uint8Array;
  readonly privateKey: KeyObject;
}

/** Returns the key that signs now. Creates the first key if necessary. */
export async function loadSigningKey(db: Db): Promise<SigningKey> {
  const { kid, create_time, public_key, private_key } = await ensureReceiptKey(db);
  const privateKey = createPrivateKey({ key: Buffer.from(private_key), format: "der", type: "pkcs8" });
  return { kid, createTime: create_time, publicKey: public_key, privateKey };
}

/** Returns all public keys, newest first. Creates the first key if necessary. */
export async function listPublishedKeys(db: Db): Promise<PublicReceiptKeyRow[]> {
  const keys = await listReceiptKeys(db);
  return keys.length > 0 ? keys : [await ensureReceiptKey(db)];
}

/**
 * Creates a new signing key and returns it; earlier keys stay published. `record` writes to an audit log in the same
 * transaction.
 */
export async function rotateReceiptKey(
  db: Db,
  record: (trx: Transaction, made: PublicReceiptKeyRow) => Promise<void>,
): Promise<PublicReceiptKeyRow> {
  return await db.transaction().execute(async (trx) => {
    await lockReceiptKeys(trx);
    const made = await makeReceiptKey(trx);
    await record(trx, made);
    return made;
  });
}

async function ensureReceiptKey(db: Db): Promise<ReceiptKeyRow> {
  const newest = await findNewestReceiptKey(db);
  if (newest !== undefined) {
    return newest;
  }
  return await db.transaction().execute(async (trx) => {
    await lockReceiptKeys(trx);
    // Another replica may have made it meanwhile.
    return (await findNewestReceiptKey(trx)) ?? (await makeReceiptKey(trx));
  });
}

async function makeReceiptKey(trx: Transaction): Promise<ReceiptKeyRow> {
  const pair = generateKeyPairSync("ed25519");
  const publicKey = exportPublicKey(pair.publicKey);
  const privateKey = pair.privateKey.export({ format: "der", type: "pkcs8" });
  return await insertReceiptKey(trx, { kid: thumbprint(publicKey), privateKey, publicKey });
}
