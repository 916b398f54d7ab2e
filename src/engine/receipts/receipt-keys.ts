// The service's own keys for receipts. The first one is made when somebody first asks for it, once over all replicas.

import { createPrivateKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import type { Clock } from "../../platform/base/clock.ts";
import { exportPublicKey, thumbprint } from "../../platform/base/public-key.ts";
import type { Db, Transaction } from "../../platform/database/database.ts";
import { recordKeyChange } from "../../protocols/jobspec/jobs/audit.ts";
import {
  findNewestReceiptKey,
  insertReceiptKey,
  listReceiptKeys,
  lockReceiptKeys,
  type PublicReceiptKeyRow,
  type ReceiptKeyRow,
} from "../storage/receipt-key.ts";

/** What signs now. */
export interface SigningKey {
  readonly kid: string;
  readonly publicKey: Uint8Array;
  readonly privateKey: KeyObject;
}

export async function loadSigningKey(db: Db): Promise<SigningKey> {
  const { kid, public_key, private_key } = await ensureReceiptKey(db);
  const privateKey = createPrivateKey({ key: Buffer.from(private_key), format: "der", type: "pkcs8" });
  return { kid, publicKey: public_key, privateKey };
}

/** The newest first. */
export async function listPublishedKeys(db: Db): Promise<PublicReceiptKeyRow[]> {
  const keys = await listReceiptKeys(db);
  return keys.length > 0 ? keys : [await ensureReceiptKey(db)];
}

/** The keys before stay published. */
export async function rotateReceiptKey({ db, clock }: { db: Db; clock: Clock }): Promise<PublicReceiptKeyRow> {
  return await db.transaction().execute(async (trx) => {
    await lockReceiptKeys(trx);
    const made = await makeReceiptKey(trx);
    await recordKeyChange(trx, clock, { type: "receipt_key.rotated", kid: made.kid, publicKey: made.public_key });
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
