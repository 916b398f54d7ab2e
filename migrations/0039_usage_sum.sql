-- A run that has ended, in the transaction of its end. A row is deleted when the sums below have it.
create table ended_run (
  position bigint generated always as identity primary key,
  run_id uuid not null,
  -- The time from the run's start to its first text; null when it is unknown.
  first_text_ms bigint
);

-- What the runs used that ended in a period of so many seconds: an exact sum for each client, agent and model.
create table usage_sum (
  client text collate "C" not null,
  seconds int not null,
  start_time timestamptz not null,
  agent_name text collate "C" not null,
  model text collate "C" not null,
  completed bigint not null,
  failed bigint not null,
  cancelled bigint not null,
  prompt_tokens bigint not null,
  completion_tokens bigint not null,
  cost_micro_usd bigint not null,
  -- The number of runs in each bucket of time.
  durations int[] not null,
  first_texts int[] not null,
  primary key (client, seconds, start_time, agent_name, model)
);

-- For the operator, who sees all clients, and for retention.
create index usage_sum_of_time on usage_sum (seconds, start_time);
