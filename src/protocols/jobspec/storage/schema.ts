// The tables of signed jobs and trusted keys for Kysely. migrations/ decides; a test compares both.

import type { Generated } from "kysely";
import type { Time } from "../../../platform/database/schema.ts";

declare module "../../../platform/database/schema.ts" {
  interface Schema {
    job: JobTable;
    job_nonce: JobNonceTable;
    trusted_key: TrustedKeyTable;
    trust_event: TrustEventTable;
  }
}

declare module "../../../engine/storage/schema.ts" {
  interface SessionTable {
    /** Set for the session of a job's region. */
    job: string | null;
    region: string | null;
  }
}

/** The state of a trusted key. */
export type TrustedKeyStatus = "active" | "revoked";

/** The event types of the trust audit, in the contract's words. */
export type TrustEventType = "key.created" | "key.updated" | "key.revoked" | "receipt_key.rotated" | "jobspec.refused";

/** A signed job. */
export interface JobTable {
  id: string;
  client: string;
  document: Uint8Array;
  client_job_id: string;
  jobspec_id: string;
  version: string;
  benchmark: string;
  signature_version: number;
  public_key: Uint8Array;
  key_id: string;
  canonical_sha256: Uint8Array;
  canonical_len: number;
  total_regions: number;
  min_regions: number;
  min_success_rate: number;
  successes_min: number;
  create_time: Time;
  cancel_request_time: Date | null;
}

/** A nonce that a key has used. */
export interface JobNonceTable {
  public_key: Uint8Array;
  nonce: string;
  create_time: Generated<Date>;
}

/** A trusted key and its terms. */
export interface TrustedKeyTable {
  kid: string;
  public_key: Uint8Array;
  status: Generated<TrustedKeyStatus>;
  not_before: Date | null;
  not_after: Date | null;
  client_ids: string[];
  regions: string[];
  runners: Generated<string[]>;
  create_time: Generated<Date>;
  update_time: Generated<Date>;
}

/** An event of the trust audit. */
export interface TrustEventTable {
  id: string;
  type: TrustEventType;
  actor: string;
  kid: string | null;
  public_key: Uint8Array | null;
  error_code: string | null;
  document_sha256: Uint8Array | null;
  detail: string | null;
  create_time: Generated<Date>;
}
