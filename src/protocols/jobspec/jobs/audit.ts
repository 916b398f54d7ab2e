// Writes the trust audit: changes of keys, in the transaction that makes them, and refused specs. The audit keeps only the
// hash, the key and the reason of a refused spec.

import { createHash } from "node:crypto";
import { clientIdOf } from "../../../platform/auth/caller.ts";
import type { Clock } from "../../../platform/base/clock.ts";
import { newUuid } from "../../../platform/base/ids.ts";
import type { Db, Transaction } from "../../../platform/database/database.ts";
import type { TrustEventType } from "../storage/schema.ts";
import { insertTrustEvent } from "../storage/trust-event.ts";
import type { TrustedKeyRow } from "../storage/trusted-key.ts";
import type { ReadDocument } from "../verification/json.ts";
import type { SpecFault } from "../verification/spec-fault.ts";
import { publicKeyOf } from "./trust.ts";

/** The actor of calls with the admin token. */
const admin = "admin";
/** The maximum length of a message about a spec, because it may quote the spec. */
const messageCharsMax = 500;

/** A refused submission. */
export interface Refusal {
  readonly client: string;
  /** The body as it was received. */
  readonly body: Uint8Array;
  /** The spec in the body, if the body holds one. */
  readonly document?: ReadDocument | undefined;
  /** The key's name in the trust list. */
  readonly kid?: string | undefined;
  readonly fault: SpecFault;
}

/** Records a refusal in the audit. */
export async function recordRefusal(
  { db, clock }: { readonly db: Db; readonly clock: Clock },
  { client, body, document, kid, fault }: Refusal,
): Promise<void> {
  const publicKey = document && publicKeyOf(document);
  const [realm = ""] = client.split("/", 1);
  const message = fault.message.slice(0, messageCharsMax).toWellFormed();
  await insertTrustEvent(db, {
    id: newUuid(clock.nowMs()),
    type: "jobspec.refused",
    actor: clientIdOf(client),
    kid: kid ?? null,
    public_key: publicKey === undefined ? null : Buffer.from(publicKey),
    error_code: fault.code,
    document_sha256: createHash("sha256").update(body).digest(),
    detail: JSON.stringify({ message, realm, ...fault.details }),
  });
}

/** A change of a trusted key or of the key that signs receipts. */
export interface KeyChange {
  readonly type: Exclude<TrustEventType, "jobspec.refused">;
  readonly kid: string;
  readonly publicKey: Uint8Array;
  readonly before?: TrustedKeyRow;
  readonly after?: TrustedKeyRow;
}

/** Records a change in the audit, in the transaction of the change. */
export async function recordKeyChange(
  trx: Transaction,
  clock: Clock,
  { type, kid, publicKey, before, after }: KeyChange,
): Promise<void> {
  const detail = { ...(before && { before: termsOf(before) }), ...(after && { after: termsOf(after) }) };
  await insertTrustEvent(trx, {
    id: newUuid(clock.nowMs()),
    type,
    actor: admin,
    kid,
    public_key: Buffer.from(publicKey),
    detail: Object.keys(detail).length === 0 ? null : JSON.stringify(detail),
  });
}

/** Returns the terms of a key that can change. */
function termsOf({ status, not_before, not_after, client_ids, regions, runners }: TrustedKeyRow): object {
  return {
    status,
    ...(not_before !== null && { not_before: not_before.toISOString() }),
    ...(not_after !== null && { not_after: not_after.toISOString() }),
    client_ids,
    regions,
    runners,
  };
}
