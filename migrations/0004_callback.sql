-- Status callbacks: whom a session's transitions are told, and what has become of each telling.

-- Where the transitions of a run are told, as of its start; null for nowhere.
alter table run add column callback_url text;

-- The outbox. A row is written with the transition that it tells of. Transitions of a session follow one another, each
-- after the commit of the one before, so positions are their order in the session. What is told is made of the row, its
-- session and its run when it is sent.
create table callback (
  id uuid primary key default gen_random_uuid(),
  position bigint generated always as identity,
  client text not null,
  -- With the session go its callbacks, also where a version that does not know of them removes it.
  session uuid not null references session (id) on delete cascade,
  run_id uuid,
  -- Of the run's terminal result; 0 for what has none.
  sequence bigint not null,
  status text not null check (status in ('created', 'running', 'completed', 'failed', 'cancelled')),
  base_url text not null,
  state text not null default 'pending' check (state in ('pending', 'delivered', 'dead')),
  attempts int not null default 0,
  -- The next attempt; while one is made, the time at which its maker is taken to be dead.
  due_time timestamptz not null default now(),
  -- After this no failure is followed by another attempt.
  give_up_time timestamptz not null default now() + interval '24 hours',
  last_error text,
  create_time timestamptz not null default now(),
  end_time timestamptz,
  check ((state = 'pending') = (end_time is null))
);
-- Two ways to say what is pending, so that a plan that was kept since the table was empty does not take one for the other.
create index callback_due on callback (due_time) where state = 'pending';
create index callback_pending on callback (session, position) where end_time is null;
create index callback_of_session on callback (session, position);
create index callback_of_client on callback (client, position);
create index callback_settled on callback (end_time) where state <> 'pending';
