-- Where the changes of a run are pushed: addresses that its client has added to the run itself.
create table push_config (
  key uuid primary key default gen_random_uuid(),
  run_id uuid not null,
  -- With the session go the addresses of its runs.
  session uuid not null references session (id) on delete cascade,
  -- The client's name of it, unique in the run.
  id text not null,
  url text not null,
  -- A text that the receiver knows; empty for none.
  token text not null,
  -- A scheme and credentials of HTTP authentication; empty for none.
  scheme text not null,
  credentials text not null,
  create_time timestamptz not null default now(),
  unique (run_id, id)
);
create index push_config_of_session on push_config (session);

-- True for a run that has had such an address: its end is written by the statements that look for them.
alter table run add column has_pushes boolean not null default false;

-- Set for a push. A removed address gets nothing more.
alter table callback add column push_config uuid references push_config (key) on delete cascade;
create index callback_of_push_config on callback (push_config) where push_config is not null;
