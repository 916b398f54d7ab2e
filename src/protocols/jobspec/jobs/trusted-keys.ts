// Changes the trusted keys in the database. Each change is one transaction with its row of the audit.

import { isDeepStrictEqual } from "node:util";
import type { Clock } from "../../../platform/base/clock.ts";
import { Fault, invalidField } from "../../../platform/base/fault.ts";
import { isWeak, publicKeyBytes } from "../../../platform/base/public-key.ts";
import type { Db, Transaction } from "../../../platform/database/database.ts";
import { reasons } from "../reasons.ts";
import {
  insertTrustedKey,
  type KeyTerms,
  lockTrustedKey,
  revokeTrustedKey,
  setTrustedKeyTerms,
  type TrustedKeyRow,
} from "../storage/trusted-key.ts";
import { decodeBase64 } from "../verification/base64.ts";
import type { TrustedKey } from "../verification/trust-list.ts";
import { recordKeyChange } from "./audit.ts";
import type { Trust } from "./trust.ts";

/** Dependencies of the changes. */
export interface TrustedKeysDeps {
  readonly db: Db;
  readonly clock: Clock;
  readonly trust: Pick<Trust, "configured">;
}

/** Adds a key. Throws KEY_EXISTS when its name or its bytes are taken. */
export async function addKey(
  { db, clock, trust }: TrustedKeysDeps,
  { kid, publicKey, terms }: { kid: string; publicKey: Uint8Array; terms: KeyTerms },
): Promise<TrustedKeyRow> {
  refuseConfigured(trust.configured, kid, publicKey);
  return await db.transaction().execute(async (trx) => {
    const after = await insertTrustedKey(trx, { kid, publicKey, terms });
    if (after === undefined) {
      throw keyExists("the list already has a key with this kid or these bytes: `ListTrustedKeys` shows it");
    }
    await recordKeyChange(trx, clock, { type: "key.created", kid, publicKey, after });
    return after;
  });
}

/**
 * Changes the terms that `change` has; equal terms change nothing. Throws KEY_NOT_FOUND, KEY_REVOKED, or INVALID_ARGUMENT when
 * the key would end before it begins.
 */
export async function changeKey(deps: TrustedKeysDeps, kid: string, change: Partial<KeyTerms>): Promise<TrustedKeyRow> {
  const { db, clock } = deps;
  return await db.transaction().execute(async (trx) => {
    const before = await requireKey(trx, deps, kid);
    if (before.status === "revoked") {
      throw new Fault(reasons.KEY_REVOKED, "the key is revoked permanently: add another key");
    }
    const terms = { ...termsOf(before), ...change };
    if (isDeepStrictEqual(termsOf(before), terms)) {
      return before;
    }
    if (terms.notBefore !== undefined && terms.notAfter !== undefined && terms.notBefore > terms.notAfter) {
      throw invalidField("key.not_after", "it is before not_before");
    }
    const after = await setTrustedKeyTerms(trx, kid, terms);
    await recordKeyChange(trx, clock, { type: "key.updated", kid, publicKey: after.public_key, before, after });
    return after;
  });
}

/** Revokes a key for good. A revoked key stays as it is. Throws KEY_NOT_FOUND. */
export async function revokeKey(deps: TrustedKeysDeps, kid: string): Promise<TrustedKeyRow> {
  const { db, clock } = deps;
  return await db.transaction().execute(async (trx) => {
    const before = await requireKey(trx, deps, kid);
    if (before.status === "revoked") {
      return before;
    }
    const after = await revokeTrustedKey(trx, kid);
    await recordKeyChange(trx, clock, { type: "key.revoked", kid, publicKey: after.public_key, before, after });
    return after;
  });
}

/** Decodes a key that may be trusted. Throws INVALID_ARGUMENT when it is malformed or weak. */
export function readNewKey(text: string): Uint8Array {
  const field = "key.public_key";
  const bytes = decode(text);
  if (bytes === undefined || bytes.length !== publicKeyBytes) {
    throw invalidField(field, `send the ${publicKeyBytes} bytes of an Ed25519 public key in standard base64`);
  }
  if (isWeak(bytes)) {
    throw invalidField(field, "weak public key: with it one signature fits any text; make a new key pair");
  }
  return bytes;
}

function decode(text: string): Uint8Array | undefined {
  try {
    return decodeBase64(text);
  } catch {
    return undefined;
  }
}

function refuseConfigured(configured: readonly TrustedKey[], kid: string, publicKey: Uint8Array): void {
  const isSame = (key: TrustedKey): boolean => key.kid === kid || Buffer.compare(key.publicKey, publicKey) === 0;
  if (configured.some(isSame)) {
    throw keyExists("the settings already have a key with this kid or these bytes");
  }
}

function keyExists(message: string): Fault {
  return new Fault(reasons.KEY_EXISTS, message);
}

async function requireKey(trx: Transaction, { trust }: TrustedKeysDeps, kid: string): Promise<TrustedKeyRow> {
  const row = await lockTrustedKey(trx, kid);
  if (row === undefined) {
    const isConfigured = trust.configured.some((key) => key.kid === kid);
    throw new Fault(
      reasons.KEY_NOT_FOUND,
      isConfigured ? "the key comes from the settings: change it there" : "trusted key not found",
    );
  }
  return row;
}

function termsOf(row: TrustedKeyRow): KeyTerms {
  return {
    notBefore: row.not_before ?? undefined,
    notAfter: row.not_after ?? undefined,
    clientIds: row.client_ids,
    regions: row.regions,
    runners: row.runners,
  };
}
