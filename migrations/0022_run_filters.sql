-- What lists of runs select by. `failure` has the code and the message of a failed or cancelled run. Runs of older versions have
-- none of these. The names are new: statements of the previous version join this table, and name some columns without a table.
alter table run
  add column agent_name text,
  add column assigned_runner text,
  add column failure text;

-- What a run used, written with its end, for sums by day.
alter table run
  add column prompt_tokens bigint,
  add column completion_tokens bigint,
  add column cost_micro_usd bigint;

-- With a collation of its own, as for lists, so that the planner takes it for no other look-up by client.
create index run_ended_of_client on run (client collate "C", end_time) where end_time is not null;
