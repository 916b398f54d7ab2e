-- Runners, the bindings that give them events, the runs that they take, and what such runs keep with their host.

create table runner (
  client text not null,
  runner_id text not null,
  -- Whose it is: only this worker may register it again.
  worker_id text not null,
  era text not null,
  manifest bytea not null,
  -- Where it is dialled; null for one that dials in.
  url text,
  create_time timestamptz not null default now(),
  update_time timestamptz not null default now(),
  primary key (client, runner_id)
);

-- A process of a worker. It is seen while it listens or asks.
create table worker_session (
  id uuid primary key,
  client text not null,
  worker_id text not null,
  runner_ids text[] not null,
  create_time timestamptz not null default now(),
  seen_time timestamptz not null default now()
);
create index worker_session_age on worker_session (seen_time);
create index worker_session_of_client on worker_session (client, seen_time);

create table binding (
  client text not null,
  binding_id text not null,
  -- Whose events it takes, so that an event reads only those that could be its own. The id is empty for global.
  scope_kind text not null,
  scope_id text not null,
  body bytea not null,
  create_time timestamptz not null default now(),
  update_time timestamptz not null default now(),
  primary key (client, binding_id)
);
create index binding_of_scope on binding (client, scope_kind, scope_id);

-- A run of a runner has a session of its own that nobody reaches by its name. The list has none of them.
alter table session add column runner_id text;
drop index session_list;
create index session_list on session (client collate "C", id)
  where delete_time is null and job is null and runner_id is null;

-- What is frozen when a run of a runner starts, who was offered it and who has it.
create table remote_run (
  run_id uuid primary key references run (id),
  client text not null,
  runner_id text not null,
  binding_id text not null,
  era text not null,
  -- Whose event it is: decides which history, state and storage it reaches.
  scope jsonb not null,
  -- What it may use.
  granted jsonb not null,
  -- All that its runner is told.
  context bytea not null,
  offer_id uuid,
  offer_session uuid,
  offer_until timestamptz,
  -- 0 until a worker has accepted it.
  attempt int not null default 0,
  worker_session uuid,
  accept_time timestamptz
);
create index remote_run_waiting on remote_run (client, runner_id, run_id) where attempt = 0;

-- What became of the reported results that are not in the log as they came.
create table result_verdict (
  run_id uuid not null references run (id),
  position int not null,
  sequence bigint not null,
  type text not null,
  disposition text not null,
  diagnostics text[] not null,
  create_time timestamptz not null default now(),
  primary key (run_id, position)
);

-- Reports that reached another replica than the one that works on their run.
create table forwarded_report (
  id uuid primary key,
  run_id uuid not null,
  request bytea not null,
  response bytea,
  create_time timestamptz not null default now()
);
create index forwarded_report_open on forwarded_report (run_id, id) where response is null;
create index forwarded_report_age on forwarded_report (create_time);

-- Conversations, by the hash of whose they are. The row is locked while something is put behind the end.
create table conversation (
  scope bytea primary key,
  client text not null,
  last_item bigint not null default 0,
  last_event bigint not null default 0
);

-- What was said in a conversation, by events and by runners.
create table history_item (
  scope bytea not null references conversation (scope),
  seq bigint not null,
  id uuid not null,
  run_id uuid not null,
  event_id text not null,
  role text not null,
  content text,
  content_json text not null,
  create_time timestamptz not null default now(),
  primary key (scope, seq)
);

-- One event, one run. Without a conversation it has no place among others.
create table agent_event (
  run_id uuid primary key,
  client text not null,
  event_id text not null,
  event_type text not null,
  scope bytea references conversation (scope),
  seq bigint,
  record bytea not null,
  create_time timestamptz not null default now()
);
create unique index agent_event_of_conversation on agent_event (scope, seq) where scope is not null;
create index agent_event_of_id on agent_event (scope, event_id) where scope is not null;
create index agent_event_age on agent_event (create_time);

-- Small JSON that runs keep, by the hash of whose it is.
create table state_value (
  owner bytea not null,
  key text not null,
  client text not null,
  value text not null,
  update_time timestamptz not null default now(),
  primary key (owner, key)
);

-- Blobs that runs keep, in pieces. The pieces of a version count when the value names it.
create table storage_value (
  owner bytea not null,
  key text not null,
  client text not null,
  version uuid not null,
  size_bytes bigint not null,
  update_time timestamptz not null default now(),
  primary key (owner, key)
);
create table storage_piece (
  owner bytea not null,
  key text not null,
  version uuid not null,
  -- Who writes it: only they go on with it.
  run_id uuid not null,
  start_byte bigint not null,
  content bytea not null,
  create_time timestamptz not null default now(),
  primary key (owner, key, version, start_byte)
);
create index storage_piece_age on storage_piece (create_time);
alter table storage_piece alter column content set storage external;

-- Ids of artifacts are a client's; the first run that names one has it.
create table artifact (
  client text not null,
  artifact_id text not null,
  run_id uuid not null,
  runner_id text not null,
  -- The conversation that reaches it too.
  scope bytea,
  artifact_type text not null,
  mime_type text,
  name text,
  size_bytes bigint,
  sha256 text,
  metadata text not null,
  content bytea,
  -- False while the id is only taken.
  is_complete boolean not null,
  create_time timestamptz not null default now(),
  expire_time timestamptz,
  primary key (client, artifact_id)
);
create index artifact_of_run on artifact (run_id);
create index artifact_expiry on artifact (expire_time) where expire_time is not null;
create index artifact_claimed on artifact (create_time) where not is_complete;
alter table artifact alter column content set storage external;

-- What runs asked of their host, and whether it was allowed.
create table audit_entry (
  id uuid primary key,
  client text not null,
  run_id uuid not null,
  runner_id text not null,
  action text not null,
  resource text not null,
  scope text not null,
  result text not null,
  reason text not null,
  create_time timestamptz not null default now()
);
create index audit_entry_of_client on audit_entry (client, id);
create index audit_entry_of_run on audit_entry (run_id, id);
create index audit_entry_age on audit_entry (create_time);
