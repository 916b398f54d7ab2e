// The tables of sessions, runs and their logs, as Kysely sees them. The migrations define the tables; a test compares the two.

import type { Generated, GeneratedAlways } from "kysely";
import type { Time } from "../../platform/database/schema.ts";

declare module "../../platform/database/schema.ts" {
  interface Schema {
    replica: ReplicaTable;
    session: SessionTable;
    run: RunTable;
    run_result: RunResultTable;
    run_text: RunTextTable;
    run_text_cursor: RunTextCursorTable;
    checkpoint: CheckpointTable;
    transcript: TranscriptTable;
    compaction: CompactionTable;
    tool_call: ToolCallTable;
    idempotency: IdempotencyTable;
    callback: CallbackTable;
    push_config: PushConfigTable;
    receipt_key: ReceiptKeyTable;
    schedule: ScheduleTable;
    approval: ApprovalTable;
    work_dir_claim: WorkDirClaimTable;
    tree_check: TreeCheckTable;
    state_value: StateValueTable;
    ended_run: EndedRunTable;
    usage_sum: UsageSumTable;
  }
}

/** The status of a run. A pending one waits for the runs before it in its session, of which one is queued, running or waiting. */
export type RunStatus = "pending" | "queued" | "running" | "waiting" | "completed" | "failed" | "cancelled";

/** The transition that a status callback reports, as it is sent. */
export type CallbackStatus = "created" | "running" | "completed" | "failed" | "cancelled";

/** The delivery state of a status callback; `dead` means given up. */
export type CallbackState = "pending" | "delivered" | "dead";

/** A replica and its lease. */
export interface ReplicaTable {
  id: string;
  lease_until: Date;
  start_time: Generated<Date>;
  /** Null for a replica of an older version. */
  version: string | null;
  slots: number | null;
}

/** A session of a client. */
export interface SessionTable {
  id: string;
  client: string;
  name: string;
  agent: Uint8Array;
  work_dir: string | null;
  callback: Uint8Array | null;
  fork: Uint8Array | null;
  annotations: string | null;
  latest_run_id: string | null;
  create_time: Generated<Date>;
  delete_time: Date | null;
  /** True for a session that a protocol keeps for its own runs: SessionService neither finds nor lists it. */
  hidden: Generated<boolean>;
  /** The session of the parent of its child runs; null for every other session. */
  parent_session: string | null;
  /** The session from which a fork continues; null for every other session, and for forks of older versions. */
  forked_from: string | null;
}

/** A run: its place in the queue, its owner and its outcome. */
export interface RunTable {
  id: string;
  client: string;
  session: string;
  driver: string;
  input: Uint8Array;
  /** The first words of the input; null in rows of older versions. */
  input_excerpt: string | null;
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
  /** The settings of this run alone; null for those of its session. */
  agent: Uint8Array | null;
  model: string | null;
  /** The number of messages in the run's input; the last of them is `input`. */
  input_length: Generated<number>;
  annotations: string | null;
  priority: Generated<number>;
  /** When the client deleted the run; null for a run that the client sees. */
  delete_time: Date | null;
  /** The name of the run's agent; null after a purge, and for a run of an older version. */
  agent_name: string | null;
  /** The id of the runner that works on the run; null for a run of another driver. */
  assigned_runner: string | null;
  /** The code and the message of the failure, a line each and cut; null for a run that has not failed. */
  failure: string | null;
  prompt_tokens: number | null;
  completion_tokens: number | null;
  cost_micro_usd: number | null;
  /** The run whose call has started this one; null for a run that a caller started. */
  parent_run_id: string | null;
  /** The run at the top of the tree; null for a run that a caller started. */
  root_run_id: string | null;
  /** The number of runs above it in the tree. */
  depth: Generated<number>;
  /** When the run last began or ended a wait, asked for an approval or had its decision; null before. */
  change_time: Date | null;
  /** True for a run that has had an address to which it is pushed. */
  has_pushes: Generated<boolean>;
}

/** One entry of a log. */
export interface RunResultTable {
  run_id: string;
  sequence: number;
  epoch: number;
  payload: Uint8Array;
}

/** The text of a run, for search. */
export interface RunTextTable {
  run_id: string;
  client: string;
  session: string;
  text: string;
  words: string;
  /** Whether the text has the end of the run. */
  is_final: boolean;
}

/** How far the texts of runs are written: one row. */
export interface RunTextCursorTable {
  is_only: Generated<boolean>;
  run_id: string;
}

/** The newest checkpoint of a run. */
export interface CheckpointTable {
  run_id: string;
  turn: number;
  sequence: number;
  state: Uint8Array;
  create_time: Generated<Date>;
  chain_sequence: number | null;
  chain: Uint8Array | null;
}

/** A message of a session. */
export interface TranscriptTable {
  session: string;
  position: number;
  run_id: string;
  message: Uint8Array;
}

/** What a model gets in place of the first messages of a session. */
export interface CompactionTable {
  session: string;
  through: number;
  messages: Buffer[];
}

/** A tool call and its outcome. */
export interface ToolCallTable {
  run_id: string;
  turn: number;
  position: number;
  call: Uint8Array;
  outcome: Uint8Array | null;
  log_sequence: number | null;
  create_time: Generated<Date>;
  end_time: Date | null;
  /** The approval that the call waits for; null for a call that needs none. */
  approval_id: string | null;
  /** The run that the call has started; null for a call of another tool. */
  child_run_id: string | null;
  /** The task of a server that works on the call; null for a call without one. */
  task: string | null;
}

/** A run whose children or parent have to be looked at. */
export interface TreeCheckTable {
  position: GeneratedAlways<number>;
  run_id: string;
}

/** A run that has ended and is not in the sums yet. */
export interface EndedRunTable {
  position: GeneratedAlways<number>;
  run_id: string;
  first_text_ms: number | null;
}

/** What the runs used that ended in a period. */
export interface UsageSumTable {
  client: string;
  seconds: number;
  start_time: Date;
  agent_name: string;
  model: string;
  completed: number;
  failed: number;
  cancelled: number;
  prompt_tokens: number;
  completion_tokens: number;
  cost_micro_usd: number;
  durations: number[];
  first_texts: number[];
}

/** An approval that a run requests. */
export interface ApprovalTable {
  id: string;
  client: string;
  run_id: string;
  /** Of a runner's action; null for a tool call. */
  runner_id: string | null;
  runner_sequence: number | null;
  /** The id of the tool call; null for an action of a runner. */
  tool_call_id: string | null;
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
  /** The JSON Schema of the values that a person fills in; null for an approval without a form. */
  form: string | null;
  /** These values as JSON, until their use. */
  answer: string | null;
}

/** The answer to a create, by request id. */
export interface IdempotencyTable {
  client: string;
  method: string;
  request_id: string;
  request_hash: Uint8Array;
  response: Uint8Array;
  create_time: Generated<Date>;
}

/** A status callback in the outbox. */
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
  /** The address of a push; null for a status callback. */
  push_config: string | null;
}

/** An address to which a run is pushed. */
export interface PushConfigTable {
  key: Generated<string>;
  run_id: string;
  session: string;
  id: string;
  url: string;
  token: string;
  scheme: string;
  credentials: string;
  create_time: Generated<Date>;
}

/** A message that is sent at times of a calendar. */
export interface ScheduleTable {
  id: string;
  client: string;
  /** The schedule's public id. */
  name: string;
  spec: Uint8Array;
  /** Null while the schedule is paused. */
  next_time: Date | null;
  last_time: Date | null;
  last_run_id: string | null;
  last_error: string | null;
  create_time: Generated<Date>;
}

/** A key that signs receipts. */
export interface ReceiptKeyTable {
  kid: string;
  private_key: Uint8Array;
  public_key: Uint8Array;
  position: GeneratedAlways<number>;
  create_time: Generated<Date>;
}

/** A directory that a client has named. */
export interface WorkDirClaimTable {
  path: string;
  client: string;
  create_time: Generated<Date>;
}

/** A value that outlives runs, of a memory or of another owner of a protocol. */
export interface StateValueTable {
  owner: Uint8Array;
  key: string;
  client: string;
  value: string;
  version: Generated<number>;
  /** The session with which the value is deleted. */
  session: string | null;
  update_time: Generated<Date>;
}
