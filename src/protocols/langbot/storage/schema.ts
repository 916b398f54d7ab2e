// The tables of runners and of their host's data, as Kysely sees them. migrations/ is the source of truth; a test compares the
// two.

import type { ColumnType, Generated, GeneratedAlways } from "kysely";

declare module "../../../platform/database/schema.ts" {
  interface Schema {
    runner: RunnerTable;
    worker_session: WorkerSessionTable;
    binding: BindingTable;
    remote_run: RemoteRunTable;
    result_verdict: ResultVerdictTable;
    forwarded_report: ForwardedReportTable;
    conversation: ConversationTable;
    history_item: HistoryItemTable;
    agent_event: AgentEventTable;
    storage_value: StorageValueTable;
    storage_piece: StoragePieceTable;
    artifact: ArtifactTable;
    audit_entry: AuditEntryTable;
    config_file: ConfigFileTable;
    agent_profile: AgentProfileTable;
    knowledge_base: KnowledgeBaseTable;
    knowledge_entry: KnowledgeEntryTable;
  }
}

declare module "../../../engine/storage/schema.ts" {
  interface SessionTable {
    /** Set for the session of a runner's run. */
    runner_id: string | null;
  }
}

/** JSON that only this service writes; `runners/` defines its content. */
type Json = ColumnType<unknown, string, string>;

/** Registered runners. */
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

/** Sessions of worker processes. */
export interface WorkerSessionTable {
  id: string;
  client: string;
  worker_id: string;
  runner_ids: string[];
  create_time: Generated<Date>;
  seen_time: Generated<Date>;
}

/** Bindings of clients. */
export interface BindingTable {
  client: string;
  binding_id: string;
  scope_kind: string;
  scope_id: string;
  body: Uint8Array;
  create_time: Generated<Date>;
  update_time: Generated<Date>;
}

/** Runs of runners, with their offers and their usage of the host API. */
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
  mcp: Uint8Array | null;
}

/** Verdicts on results that are not in the log as they were reported. */
export interface ResultVerdictTable {
  run_id: string;
  position: number;
  sequence: number;
  type: string;
  disposition: string;
  diagnostics: string[];
  create_time: Generated<Date>;
}

/** Reports between replicas. */
export interface ForwardedReportTable {
  id: string;
  run_id: string;
  request: Uint8Array;
  response: Uint8Array | null;
  create_time: Generated<Date>;
}

/** The last numbers of conversations. */
export interface ConversationTable {
  scope: Uint8Array;
  client: string;
  last_item: Generated<number>;
  last_event: Generated<number>;
}

/** Messages of conversations. */
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

/** Events that started runs. */
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

/** Finished values of storage. */
export interface StorageValueTable {
  owner: Uint8Array;
  key: string;
  client: string;
  version: string;
  size_bytes: number;
  update_time: Generated<Date>;
}

/** Pieces of storage values. */
export interface StoragePieceTable {
  owner: Uint8Array;
  key: string;
  version: string;
  run_id: string;
  start_byte: number;
  content: Uint8Array;
  /** Infinity when the sweep has seen that the piece belongs to a finished value. */
  create_time: Generated<Date>;
}

/** Artifacts, and claimed ids without an artifact yet. */
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

/** The audit of the host API. */
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

/** Files that configurations name. */
export interface ConfigFileTable {
  client: string;
  file_key: string;
  mime_type: string | null;
  content: Uint8Array;
  update_time: Generated<Date>;
}

/** Agents that bindings name. */
export interface AgentProfileTable {
  client: string;
  agent_id: string;
  body: Uint8Array;
  create_time: Generated<Date>;
  update_time: Generated<Date>;
}

/** Knowledge bases of clients. */
export interface KnowledgeBaseTable {
  client: string;
  kb_id: string;
  name: string;
  create_time: Generated<Date>;
}

/** Entries of knowledge bases. */
export interface KnowledgeEntryTable {
  client: string;
  kb_id: string;
  entry_id: string;
  content: string;
  metadata: string;
  members: GeneratedAlways<Json> | null;
  search: GeneratedAlways<string> | null;
}
