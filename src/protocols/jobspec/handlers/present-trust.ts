// Trusted keys, the trust audit and the service's own keys, as the contract shows them.

import { create } from "@bufbuild/protobuf";
import { timestampDate, timestampFromDate, timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  type Jwk,
  JwkSchema,
  type TrustEvent,
  TrustEventSchema,
  type TrustedKey,
  TrustedKey_Status,
  TrustedKeySchema,
} from "#gen/runnel/v1/trust_pb.js";
import type { PublicReceiptKeyRow } from "../../../engine/storage/receipt-key.ts";
import { thumbprint } from "../../../platform/base/public-key.ts";
import type { TrustedKey as ConfiguredKey } from "../spec/trust-list.ts";
import type { TrustedKeyStatus } from "../storage/schema.ts";
import type { TrustEventRow } from "../storage/trust-event.ts";
import type { KeyTerms, TrustedKeyRow } from "../storage/trusted-key.ts";

export function presentKey(row: TrustedKeyRow): TrustedKey {
  return create(TrustedKeySchema, {
    kid: row.kid,
    publicKey: base64(row.public_key),
    status: statuses[row.status],
    ...(row.not_before !== null && { notBefore: timestampFromDate(row.not_before) }),
    ...(row.not_after !== null && { notAfter: timestampFromDate(row.not_after) }),
    clientIds: row.client_ids,
    regions: row.regions,
    runners: row.runners,
    thumbprint: thumbprint(row.public_key),
    createTime: timestampFromDate(row.create_time),
    updateTime: timestampFromDate(row.update_time),
  });
}

export function presentConfiguredKey(key: ConfiguredKey): TrustedKey {
  return create(TrustedKeySchema, {
    kid: key.kid,
    publicKey: base64(key.publicKey),
    status: statuses[key.isRevoked ? "revoked" : "active"],
    ...(key.notBeforeMs !== undefined && { notBefore: timestampFromMs(key.notBeforeMs) }),
    ...(key.notAfterMs !== undefined && { notAfter: timestampFromMs(key.notAfterMs) }),
    thumbprint: thumbprint(key.publicKey),
    isConfigured: true,
  });
}

/** What a request says of when a key is good, and for whom and where. */
export function termsOf({ notBefore, notAfter, clientIds, regions, runners }: TrustedKey): KeyTerms {
  return {
    notBefore: notBefore && timestampDate(notBefore),
    notAfter: notAfter && timestampDate(notAfter),
    clientIds,
    regions,
    runners,
  };
}

export function presentEvent(row: TrustEventRow): TrustEvent {
  return create(TrustEventSchema, {
    eventId: row.id,
    createTime: timestampFromDate(row.create_time),
    type: row.type,
    actor: row.actor,
    kid: row.kid ?? "",
    publicKey: row.public_key === null ? "" : base64(row.public_key),
    errorCode: row.error_code ?? "",
    documentSha256: row.document_sha256 === null ? "" : Buffer.from(row.document_sha256).toString("hex"),
    ...(row.detail !== null && { detail: row.detail }),
  });
}

export function presentJwk({ kid, public_key }: PublicReceiptKeyRow): Jwk {
  const x = Buffer.from(public_key).toString("base64url");
  return create(JwkSchema, { kty: "OKP", crv: "Ed25519", x, kid, use: "sig", alg: "EdDSA" });
}

const statuses = {
  active: TrustedKey_Status.ACTIVE,
  revoked: TrustedKey_Status.REVOKED,
} as const satisfies Record<TrustedKeyStatus, TrustedKey_Status>;

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64");
}
