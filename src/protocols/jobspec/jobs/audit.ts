// What the trust audit is told: changes of keys, in the transaction that makes them, and specs that were refused.
// Nothing of a refused spec is kept but its hash, its key and why.

import { createHash } from "node:crypto";
import { clientIdOf } from "../../../platform/auth/caller.ts";
import type { Clock } from "../../../platform/base/clock.ts";
import { newUuid } from "../../../platform/base/ids.ts";
import type { Db, Transaction } from "../../../platform/database/database.ts";
import type { ReadDocument } from "../spec/json.ts";
import type { SpecFault } from "../spec/spec-fault.ts";
import type { TrustEventType } from "../storage/schema.ts";
import { insertTrustEvent } from "../storage/trust-event.ts";
import type { TrustedKeyRow } from "../storage/trusted-key.ts";
import { publicKeyOf } from "./trust.ts";

/** Who has the admin token. */
const admin = "admin";
/** Of what is said about a spec, which may quote it. */
const messageCharsMax = 500;

export interface Refusal {
  readonly client: string;
  /** As it was received. */
  readonly body: Uint8Array;
  /** The spec in it, where there is one. */
  readonly document?: ReadDocument | undefined;
  /** The name that the trust list has for its key. */
  readonly kid?: string | undefined;
  readonly fault: SpecFault;
}

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

export interface KeyChange {
  readonly type: Exclude<TrustEventType, "jobspec.refused">;
  readonly kid: string;
  readonly publicKey: Uint8Array;
  readonly before?: TrustedKeyRow;
  readonly after?: TrustedKeyRow;
}

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

/** What of a key can change. */
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
