// Converts trusted keys and events of the trust audit to messages of the contract.

import { create } from "@bufbuild/protobuf";
import { timestampDate, timestampFromDate, timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  type TrustEvent,
  TrustEventSchema,
  type TrustedKey,
  TrustedKey_State,
  TrustedKeySchema,
} from "#gen/runnel/job/v1/trust_pb.js";
import { thumbprint } from "../../../platform/base/public-key.ts";
import type { TrustedKeyStatus } from "../storage/schema.ts";
import type { TrustEventRow } from "../storage/trust-event.ts";
import type { KeyTerms, TrustedKeyRow } from "../storage/trusted-key.ts";
import type { TrustedKey as ConfiguredKey } from "../verification/trust-list.ts";

/** Converts a key of the database. */
export function keyToProto(row: TrustedKeyRow): TrustedKey {
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

/** Converts a key of the settings. */
export function configuredKeyToProto(key: ConfiguredKey): TrustedKey {
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

/** The members of a request that say when a key is valid, for whom and where. */
type Terms = Pick<TrustedKey, "notBefore" | "notAfter" | "clientIds" | "regions" | "runners">;

/** Returns the terms that `key` has. */
export function termsOf(key: Terms): KeyTerms;
export function termsOf(key: Partial<Terms>): Partial<KeyTerms>;
export function termsOf(key: Partial<Terms>): Partial<KeyTerms> {
  const { clientIds, regions, runners } = key;
  return {
    ...("notBefore" in key && { notBefore: key.notBefore && timestampDate(key.notBefore) }),
    ...("notAfter" in key && { notAfter: key.notAfter && timestampDate(key.notAfter) }),
    ...(clientIds && { clientIds }),
    ...(regions && { regions }),
    ...(runners && { runners }),
  };
}

/** Converts an event of the trust audit. */
export function eventToProto(row: TrustEventRow): TrustEvent {
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

const statuses = {
  active: TrustedKey_State.ACTIVE,
  revoked: TrustedKey_State.REVOKED,
} as const satisfies Record<TrustedKeyStatus, TrustedKey_State>;

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64");
}
