-- A child run is a run that a tool call of another run, its parent, has started. The root is the run at the top of the tree.
alter table run
  add column parent_run_id uuid,
  add column root_run_id uuid,
  add column depth int not null default 0;

-- Only look-ups by these columns satisfy the conditions.
create index run_of_parent on run (parent_run_id, id) where parent_run_id is not null;
create index run_of_root on run (root_run_id, id) where root_run_id is not null;

-- The session of the parent. A child run has a session of its own, which is hidden, and is deleted with its parent's.
alter table session add column parent_session uuid;
create index session_of_parent on session (parent_session) where parent_session is not null;

alter table tool_call add column child_run_id uuid;

-- Runs whose children or parent have to be looked at, because one of them has ended or waits. A row is deleted after the look.
create table tree_check (
  position bigint generated always as identity primary key,
  run_id uuid not null
);
