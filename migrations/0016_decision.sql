-- Decision cycles: agents of the settings that decide by themselves what to write in their communities. What a cycle says and
-- does is in the log of its run; here is what has to outlive it, and what a crash must not make happen twice.

-- One row for each agent that has had a cycle. Locked by whoever starts one: so there is one at a time.
create table decision_agent (
  agent_id text primary key,
  -- The session of its cycles; it is replaced from time to time, so that none gets old. No reference: it may be gone.
  session uuid,
  session_time timestamptz not null default now(),
  -- Run of the newest cycle.
  run_id uuid,
  cycles int not null default 0,
  cycle_time timestamptz
);

-- One row for each cycle whose session is there.
create table decision_cycle (
  run_id uuid primary key references run (id) on delete cascade,
  agent_id text not null,
  -- Its number in the agent's count.
  cycle int not null,
  -- What the model answered and what it takes to act upon it, JSON. Null until then.
  decision text
);

-- One row for each action that was begun: after a crash it is known whether it may have been done, and what came of it.
create table decision_action (
  run_id uuid not null references decision_cycle (run_id) on delete cascade,
  -- Of the action among the cycle's valid ones, from 0.
  position int not null,
  -- What was sent or is to be sent, JSON; its nonce is good once. Null as soon as the end is known.
  attempt text,
  -- What came of it, JSON. Null until then.
  outcome text,
  primary key (run_id, position)
);

-- What an agent is still to be told, by the action that it is about. An entry goes when the model call that it was part of has
-- succeeded.
create table agent_feedback (
  id uuid primary key,
  agent_id text not null,
  content text not null,
  create_time timestamptz not null default now()
);
create index agent_feedback_of_agent on agent_feedback (agent_id, id);

-- What agents and their runner told each other, without secrets.
create table communication (
  id uuid primary key,
  agent_id text not null,
  create_time timestamptz not null,
  direction text not null,
  action_types text[] not null,
  instance_id text not null,
  port text not null,
  pid int not null,
  content text not null
);
create index communication_of_agent on communication (agent_id, id);
