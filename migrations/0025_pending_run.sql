-- A pending run waits in its session until the runs before it have ended: its input is not yet a message of the session.
-- The constraint is not validated: all rows satisfy it, and a scan would hold up the replicas.
alter table run drop constraint run_status_check;
alter table run add constraint run_status_check
  check (status in ('pending', 'queued', 'running', 'waiting', 'completed', 'failed', 'cancelled')) not valid;
create index run_pending_of_session on run (session, create_time, id) where status = 'pending';

-- For lists of the unfinished runs of a client.
create index run_unfinished_of_client on run (client collate "C", id)
  where status in ('pending', 'queued', 'running', 'waiting');
