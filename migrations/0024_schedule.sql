-- Messages that are sent at times of a calendar. `spec` is the encoded Schedule of the contract.
create table schedule (
  id uuid primary key,
  client text not null,
  name text not null,
  spec bytea not null,
  next_time timestamptz not null,
  last_time timestamptz,
  last_run_id uuid,
  last_error text,
  create_time timestamptz not null default now(),
  unique (client, name)
);
create index schedule_due on schedule (next_time);
