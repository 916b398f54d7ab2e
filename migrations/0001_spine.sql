-- The spine: who works (replica), what is worked on (session, run), and the log that is the truth (run_result).

-- One row per live process. Its lease is the fence of everything the process writes: rows are locked FOR KEY SHARE by
-- writers and FOR UPDATE by whoever takes over, and the row is deleted by the takeover. Never update the key: a renewal
-- must not conflict with writers.
create table replica (
  id uuid primary key,
  lease_until timestamptz not null,
  start_time timestamptz not null default now()
);

create table session (
  id uuid primary key,
  client text not null,
  name text not null,
  agent bytea not null,
  work_dir text,
  latest_run_id uuid,
  create_time timestamptz not null default now(),
  delete_time timestamptz
);
create unique index session_name on session (client, name) where delete_time is null;
create index session_of_client on session (client, id) where delete_time is null;

-- The run row is the queue. fillfactor leaves room for updates in place: a run is updated once a turn, never per result.
create table run (
  id uuid primary key,
  client text not null,
  session uuid not null references session (id),
  driver text not null,
  input bytea not null,
  status text not null check (status in ('queued', 'running', 'waiting', 'completed', 'failed', 'cancelled')),
  owner uuid,
  epoch int not null,
  turn int not null default 0,
  takeovers int not null default 0,
  wait_reason text,
  wake_at timestamptz,
  deadline timestamptz not null,
  cancel_request_time timestamptz,
  create_time timestamptz not null default now(),
  start_time timestamptz,
  end_time timestamptz,
  last_sequence bigint not null default 0,
  terminal bytea,
  check ((status = 'running') = (owner is not null))
) with (fillfactor = 80);
create unique index run_active_of_session on run (session) where status in ('queued', 'running', 'waiting');
create index run_queued on run (wake_at) where status = 'queued';
create index run_waiting on run (wake_at) where status = 'waiting';
create index run_owned on run (owner) where status = 'running';
create index run_overdue on run (deadline) where status = 'running';
create index run_of_client on run (client, id);
create index run_of_session on run (session, id);

-- The log. Partitions are days of run creation (the time in the uuidv7); a missed maintenance pass never fails an
-- insert because of the default partition. No other index: the key serves every read.
create table run_result (
  run_id uuid not null,
  sequence bigint not null,
  epoch int not null,
  payload bytea not null,
  primary key (run_id, sequence)
) partition by range (run_id);
create table run_result_default partition of run_result default;

-- Where a driver goes on after its replica was lost or after it was parked.
create table checkpoint (
  run_id uuid primary key references run (id),
  turn int not null,
  sequence bigint not null,
  state bytea not null,
  create_time timestamptz not null default now()
);

-- What a session's model has been told and has said, oldest first.
create table transcript (
  session uuid not null references session (id),
  position int not null,
  run_id uuid not null,
  message bytea not null,
  primary key (session, position)
);

-- One row per tool call: the intent before it runs, the outcome as it arrives. `log_sequence` is set when the outcome
-- has reached the log.
create table tool_call (
  run_id uuid not null references run (id),
  turn int not null,
  position int not null,
  call bytea not null,
  outcome bytea,
  log_sequence bigint,
  create_time timestamptz not null default now(),
  end_time timestamptz,
  primary key (run_id, turn, position)
);
create index tool_call_open on tool_call (run_id) where log_sequence is null;

-- Answers of creates, so that a retry gets the same one.
create table idempotency (
  client text not null,
  method text not null,
  request_id text not null,
  request_hash bytea not null,
  response bytea not null,
  create_time timestamptz not null default now(),
  primary key (client, method, request_id)
);
create index idempotency_age on idempotency (create_time);

-- Keys that every replica shares, made by the first one.
create table secret (
  name text primary key,
  value bytea not null
);
