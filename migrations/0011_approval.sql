-- What runs ask for by `action.requested` and somebody has to approve.

create table approval (
  id uuid primary key,
  client text not null,
  run_id uuid not null references run (id),
  runner_id text not null,
  -- Of the result, in the runner's own count.
  runner_sequence bigint not null,
  action text not null,
  -- All that is asked for, as JSON, and the SHA-256 of it that a decision is bound to.
  request text not null,
  digest text not null,
  expire_time timestamptz not null,
  decision text,
  decided_by text,
  comment text,
  decide_time timestamptz,
  -- Which use of it the runner was told of.
  use_id text,
  use_time timestamptz,
  create_time timestamptz not null default now(),
  unique (run_id, runner_sequence)
);
create index approval_of_client on approval (client, id);
create index approval_open on approval (client, id) where decision is null;
