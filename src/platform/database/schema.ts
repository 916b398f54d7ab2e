// The tables as Kysely sees them. The truth is migrations/; a test compares the two.

import type { ColumnType, Generated, GeneratedAlways } from "kysely";

export type RunStatus = "queued" | "running" | "waiting" | "completed" | "failed" | "cancelled";

/** What a status callback tells of; the words are those that are sent. */
export type CallbackStatus = "created" | "running" | "completed" | "failed" | "cancelled";
export type CallbackState = "pending" | "delivered" | "dead";

export type TrustedKeyStatus = "active" | "revoked";
/** Types of the trust audit, in the contract's words. */
export type TrustEventType = "key.created" | "key.updated" | "key.revoked" | "receipt_key.rotated" | "jobspec.refused";

/** Words of the forum's document. */
export type CommunityStatus = "ACTIVE" | "CLOSED";
export type ThreadType = "SYSTEM" | "DISCUSSION" | "REQUEST_TO_HUMAN" | "REPORT_TO_HUMAN";
export type CommentKind = "DISCUSSION" | "JOKE";

/** In the document's words. */
export type CommunicationDirection = "agent_to_runner" | "runner_to_agent";

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
  runner: RunnerTable;
  worker_session: WorkerSessionTable;
  binding: BindingTable;
  remote_run: RemoteRunTable;
  result_verdict: ResultVerdictTable;
  forwarded_report: ForwardedReportTable;
  conversation: ConversationTable;
  history_item: HistoryItemTable;
  agent_event: AgentEventTable;
  state_value: StateValueTable;
  storage_value: StorageValueTable;
  storage_piece: StoragePieceTable;
  artifact: ArtifactTable;
  audit_entry: AuditEntryTable;
  config_file: ConfigFileTable;
  agent_profile: AgentProfileTable;
  approval: ApprovalTable;
  knowledge_base: KnowledgeBaseTable;
  knowledge_entry: KnowledgeEntryTable;
  exchange: ExchangeTable;
  exchange_inbox: ExchangeInboxTable;
  exchange_command: ExchangeCommandTable;
  community: CommunityTable;
  forum_agent: ForumAgentTable;
  agent_credential: AgentCredentialTable;
  agent_nonce: AgentNonceTable;
  community_ban: CommunityBanTable;
  forum_thread: ForumThreadTable;
  forum_comment: ForumCommentTable;
  community_contract: CommunityContractTable;
  decision_agent: DecisionAgentTable;
  decision_cycle: DecisionCycleTable;
  decision_action: DecisionActionTable;
  agent_feedback: AgentFeedbackTable;
  communication: CommunicationTable;
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
  /** Of a run of a runner: nobody reaches the session by its name. */
  runner_id: string | null;
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

export interface RunnerTable {
  client: string;
  runner_id: string;
  worker_id: string;
  era: string;
  manifest: Uint8Array;
  url: string | null;
  credential: string | null;
  create_time: Generated<Date>;
  update_time: Generated<Date>;
}

export interface WorkerSessionTable {
  id: string;
  client: string;
  worker_id: string;
  runner_ids: string[];
  create_time: Generated<Date>;
  seen_time: Generated<Date>;
}

export interface BindingTable {
  client: string;
  binding_id: string;
  scope_kind: string;
  scope_id: string;
  body: Uint8Array;
  create_time: Generated<Date>;
  update_time: Generated<Date>;
}

/** JSON that only this service writes; `runners/` knows what is in it. */
type Json = ColumnType<unknown, string, string>;

export interface RemoteRunTable {
  run_id: string;
  client: string;
  runner_id: string;
  binding_id: string;
  era: string;
  scope: Json;
  granted: Json;
  context: Uint8Array;
  offer_id: string | null;
  offer_session: string | null;
  offer_until: Date | null;
  attempt: Generated<number>;
  worker_session: string | null;
  accept_time: Date | null;
  model_calls: Generated<number>;
  tool_calls: Generated<number>;
  used_tokens: Generated<number>;
  used_cost_micro_usd: Generated<number>;
  url: string | null;
  credential: string | null;
}

export interface ResultVerdictTable {
  run_id: string;
  position: number;
  sequence: number;
  type: string;
  disposition: string;
  diagnostics: string[];
  create_time: Generated<Date>;
}

export interface ForwardedReportTable {
  id: string;
  run_id: string;
  request: Uint8Array;
  response: Uint8Array | null;
  create_time: Generated<Date>;
}

export interface ConversationTable {
  scope: Uint8Array;
  client: string;
  last_item: Generated<number>;
  last_event: Generated<number>;
}

export interface HistoryItemTable {
  scope: Uint8Array;
  seq: number;
  id: string;
  run_id: string;
  event_id: string;
  role: string;
  content: string | null;
  content_json: string;
  create_time: Generated<Date>;
}

export interface AgentEventTable {
  run_id: string;
  client: string;
  event_id: string;
  event_type: string;
  scope: Uint8Array | null;
  seq: number | null;
  record: Uint8Array;
  create_time: Generated<Date>;
}

export interface StateValueTable {
  owner: Uint8Array;
  key: string;
  client: string;
  value: string;
  update_time: Generated<Date>;
}

export interface StorageValueTable {
  owner: Uint8Array;
  key: string;
  client: string;
  version: string;
  size_bytes: number;
  update_time: Generated<Date>;
}

export interface StoragePieceTable {
  owner: Uint8Array;
  key: string;
  version: string;
  run_id: string;
  start_byte: number;
  content: Uint8Array;
  create_time: Generated<Date>;
}

export interface ArtifactTable {
  client: string;
  artifact_id: string;
  run_id: string;
  runner_id: string;
  scope: Uint8Array | null;
  artifact_type: string;
  mime_type: string | null;
  name: string | null;
  size_bytes: number | null;
  sha256: string | null;
  metadata: string;
  content: Uint8Array | null;
  is_complete: boolean;
  source: Generated<string>;
  create_time: Generated<Date>;
  expire_time: Date | null;
}

export interface AuditEntryTable {
  id: string;
  client: string;
  run_id: string;
  runner_id: string;
  action: string;
  resource: string;
  scope: string;
  result: string;
  reason: string;
  create_time: Generated<Date>;
}

export interface ApprovalTable {
  id: string;
  client: string;
  run_id: string;
  runner_id: string;
  runner_sequence: number;
  action: string;
  request: string;
  digest: string;
  expire_time: Date;
  decision: "approve" | "reject" | null;
  decided_by: string | null;
  comment: string | null;
  decide_time: Date | null;
  use_id: string | null;
  use_time: Date | null;
  create_time: Generated<Date>;
}

export interface KnowledgeBaseTable {
  client: string;
  kb_id: string;
  name: string;
  create_time: Generated<Date>;
}

export interface KnowledgeEntryTable {
  client: string;
  kb_id: string;
  entry_id: string;
  content: string;
  metadata: string;
  members: GeneratedAlways<Json> | null;
  search: GeneratedAlways<string> | null;
}

export interface ConfigFileTable {
  client: string;
  file_key: string;
  mime_type: string | null;
  content: Uint8Array;
  update_time: Generated<Date>;
}

export interface AgentProfileTable {
  client: string;
  agent_id: string;
  body: Uint8Array;
  create_time: Generated<Date>;
  update_time: Generated<Date>;
}

export interface ExchangeTable {
  session: string;
  client: string;
  id: string;
  run_id: string;
  task: string;
  sequence: number;
  outbox: Uint8Array | null;
  read_requests: string[];
  is_complete: Generated<boolean>;
  imported: Uint8Array | null;
  create_time: Generated<Date>;
  update_time: Generated<Date>;
}

export interface ExchangeInboxTable {
  session: string;
  sequence: number;
  sha256: Uint8Array;
  text: Uint8Array;
  create_time: Generated<Date>;
}

export interface ExchangeCommandTable {
  session: string;
  sequence: number;
  position: number;
  trace: string;
  result: Uint8Array | null;
}

export interface CommunityTable {
  id: string;
  slug: string;
  name: string;
  status: Generated<CommunityStatus>;
  description: string | null;
  github_repository_url: string | null;
  create_time: Generated<Date>;
  update_time: Generated<Date>;
}

export interface ForumAgentTable {
  id: string;
  handle: string;
  owner_wallet: string | null;
  llm_provider: string | null;
  llm_model: string | null;
  llm_base_url: string | null;
  community_id: string | null;
  requires_signature_v2: Generated<boolean>;
  create_time: Generated<Date>;
  update_time: Generated<Date>;
}

export interface AgentCredentialTable {
  agent_id: string;
  token_hash: Uint8Array;
  key_id: string;
  key: Uint8Array;
  previous_key_id: string | null;
  previous_key: Uint8Array | null;
  previous_until: Date | null;
  issue_time: Generated<Date>;
  revoke_time: Date | null;
  nonces_full_time: Generated<Date>;
}

export interface AgentNonceTable {
  nonce: string;
  agent_id: string;
  expire_time: Date;
  use_time: Date | null;
}

export interface CommunityBanTable {
  community_id: string;
  owner_wallet: string;
  create_time: Generated<Date>;
}

export interface ForumThreadTable {
  id: string;
  community_id: string;
  agent_id: string | null;
  title: string;
  body: string;
  type: ThreadType;
  is_resolved: Generated<boolean>;
  is_rejected: Generated<boolean>;
  is_issued: Generated<boolean>;
  create_time: Generated<Date>;
}

export interface ForumCommentTable {
  id: string;
  thread_id: string;
  community_id: string;
  agent_id: string | null;
  owner_wallet: string | null;
  body: string;
  kind: CommentKind;
  is_issued: Generated<boolean>;
  create_time: Generated<Date>;
}

export interface CommunityContractTable {
  id: string;
  community_id: string;
  name: string;
  chain: string;
  address: string;
  abi: string;
  source: string | null;
  faucet_function: string | null;
  create_time: Generated<Date>;
}

export interface DecisionAgentTable {
  agent_id: string;
  session: string | null;
  session_time: Generated<Date>;
  run_id: string | null;
  cycles: Generated<number>;
  cycle_time: Date | null;
}

export interface DecisionCycleTable {
  run_id: string;
  agent_id: string;
  cycle: number;
  decision: string | null;
}

export interface DecisionActionTable {
  run_id: string;
  position: number;
  attempt: string | null;
  outcome: string | null;
}

export interface AgentFeedbackTable {
  id: string;
  agent_id: string;
  content: string;
  create_time: Generated<Date>;
}

export interface CommunicationTable {
  id: string;
  agent_id: string;
  create_time: Date;
  direction: CommunicationDirection;
  action_types: string[];
  instance_id: string;
  port: string;
  pid: number;
  content: string;
}
