-- A run may replace settings of its session's agent, have several messages as its input, and carry data of its caller. `agent`
-- is null for a run with the settings of its session. The last message of the input is `input`; `input_length` counts all.
alter table run
  add column agent bytea,
  add column model text,
  add column input_length int not null default 1,
  add column annotations text;

-- The place in another session from which a session continues.
alter table session add column fork bytea;
