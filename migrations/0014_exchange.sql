-- Exchanges: runs that a person drives by copy and paste. What they do is in the log of their run; here is what has to be shown
-- and answered again.

-- One row for each exchange, with its newest outbox. Its id is short, as its document wants it, and so unique for a client only.
create table exchange (
  session uuid primary key references session (id),
  client text not null,
  id text not null,
  run_id uuid not null references run (id),
  task text not null,
  -- Number of the newest outbox that was written or is to be written next.
  sequence int not null,
  -- Null while it is being written.
  outbox bytea,
  -- Paths whose contents it holds, or is to hold.
  read_requests text[] not null default '{}',
  is_complete boolean not null default false,
  -- What the last inbox did elsewhere, for one that was imported and has had no inbox here.
  imported bytea,
  create_time timestamptz not null default now(),
  update_time timestamptz not null default now()
);
create unique index exchange_of_run on exchange (run_id);
create unique index exchange_id on exchange (client, id);
create index exchange_list on exchange (client collate "C", session);

-- The answers, once each.
create table exchange_inbox (
  session uuid not null references exchange (session) on delete cascade,
  sequence int not null,
  sha256 bytea not null,
  text bytea not null,
  create_time timestamptz not null default now(),
  primary key (session, sequence)
);

-- One row for each command of an inbox that was begun: what it found before, so that after a crash it is known whether it was
-- done, and what it did.
create table exchange_command (
  session uuid not null references exchange (session) on delete cascade,
  sequence int not null,
  position int not null,
  trace text not null,
  -- Null until it has ended.
  result bytea,
  primary key (session, sequence, position)
);

-- What is limited is work, and an exchange that waits for its person does none.
create index run_admitted on run (client)
  where status in ('queued', 'running') or (status = 'waiting' and driver <> 'text-exchange');

create index run_of_open_exchange on run (client)
  where driver = 'text-exchange' and status in ('queued', 'running', 'waiting');
