// The tables as Kysely sees them. The truth is migrations/; a test compares the two.

import type { ColumnType, Generated, GeneratedAlways } from "kysely";

export type RunStatus = "queued" | "running" | "waiting" | "completed" | "failed" | "cancelled";

/** What a status callback tells of; the words are those that are sent. */
export type CallbackStatus = "created" | "running" | "completed" | "failed" | "cancelled";
export type CallbackState = "pending" | "delivered" | "dead";

export type TrustedKeyStatus = "active" | "revoked";
/** Types of the trust audit, in the contract's words. */
export type TrustEventType = "key.created" | "key.updated" | "key.revoked" | "receipt_key.rotated" | "jobspec.refused";

export interface Schema {
  replica: ReplicaTable;
  session: SessionTable;
  run: RunTable;
  run_result: RunResultTable;
  checkpoint: CheckpointTable;
  transcript: TranscriptTable;
  tool_call: ToolCallTable;
  idempotency: IdempotencyTable;
  secret: SecretTable;
  nonce: NonceTable;
  api_key: ApiKeyTable;
  stream_ticket: StreamTicketTable;
  client_usage: ClientUsageTable;
  callback: CallbackTable;
  job: JobTable;
  job_nonce: JobNonceTable;
  trusted_key: TrustedKeyTable;
  trust_event: TrustEventTable;
  receipt_key: ReceiptKeyTable;
}

type Time = ColumnType<Date, Date | undefined, Date>;

export interface ReplicaTable {
  id: string;
  lease_until: Date;
  start_time: Generated<Date>;
}

export interface SessionTable {
  id: string;
  client: string;
  name: string;
  agent: Uint8Array;
  work_dir: string | null;
  callback: Uint8Array | null;
  latest_run_id: string | null;
  create_time: Generated<Date>;
  delete_time: Date | null;
  job: string | null;
  region: string | null;
}

export interface RunTable {
  id: string;
  client: string;
  session: string;
  driver: string;
  input: Uint8Array;
  status: RunStatus;
  owner: string | null;
  epoch: number;
  turn: Generated<number>;
  takeovers: Generated<number>;
  wait_reason: string | null;
  wake_at: Date | null;
  deadline: Date;
  cancel_request_time: Date | null;
  create_time: Time;
  start_time: Date | null;
  end_time: Date | null;
  last_sequence: Generated<number>;
  terminal: Uint8Array | null;
  trace_parent: string | null;
  callback_url: string | null;
  log_hash: Uint8Array | null;
}

export interface RunResultTable {
  run_id: string;
  sequence: number;
  epoch: number;
  payload: Uint8Array;
}

export interface CheckpointTable {
  run_id: string;
  turn: number;
  sequence: number;
  state: Uint8Array;
  create_time: Generated<Date>;
  chain_sequence: number | null;
  chain: Uint8Array | null;
}

export interface TranscriptTable {
  session: string;
  position: number;
  run_id: string;
  message: Uint8Array;
}

export interface ToolCallTable {
  run_id: string;
  turn: number;
  position: number;
  call: Uint8Array;
  outcome: Uint8Array | null;
  log_sequence: number | null;
  create_time: Generated<Date>;
  end_time: Date | null;
}

export interface IdempotencyTable {
  client: string;
  method: string;
  request_id: string;
  request_hash: Uint8Array;
  response: Uint8Array;
  create_time: Generated<Date>;
}

export interface SecretTable {
  name: string;
  value: Uint8Array;
}

export interface NonceTable {
  scope: string;
  nonce: string;
  create_time: Generated<Date>;
}

export interface ApiKeyTable {
  id: string;
  client: string;
  display_name: string;
  hash: Uint8Array;
  create_time: Generated<Date>;
  expire_time: Date | null;
  revoke_time: Date | null;
}

export interface StreamTicketTable {
  hash: Uint8Array;
  client: string;
  session: string | null;
  run: string | null;
  create_time: Generated<Date>;
  open_time: Date | null;
}

export interface ClientUsageTable {
  client: string;
  day: string;
  tokens: Generated<number>;
  cost_micro_usd: Generated<number>;
}

export interface CallbackTable {
  id: Generated<string>;
  position: GeneratedAlways<number>;
  client: string;
  session: string;
  run_id: string | null;
  sequence: number;
  status: CallbackStatus;
  base_url: string;
  state: Generated<CallbackState>;
  attempts: Generated<number>;
  due_time: Generated<Date>;
  give_up_time: Generated<Date>;
  last_error: string | null;
  create_time: Generated<Date>;
  end_time: Date | null;
}

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

export interface JobNonceTable {
  public_key: Uint8Array;
  nonce: string;
  create_time: Generated<Date>;
}

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

export interface ReceiptKeyTable {
  kid: string;
  private_key: Uint8Array;
  public_key: Uint8Array;
  position: GeneratedAlways<number>;
  create_time: Generated<Date>;
}
