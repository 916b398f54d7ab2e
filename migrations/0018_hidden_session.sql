-- A session that a protocol keeps for its own runs: SessionService neither finds nor lists it, and clients cannot reach it by
-- name. Until now each protocol had a column of its own for this, and the queries for sessions named them all.
alter table session add column hidden boolean not null default false;
update session set hidden = true where job is not null or runner_id is not null;

-- Replicas of the version before do not write the column.
create function hide_session_of_protocol() returns trigger language plpgsql as $$
begin
  new.hidden := true;
  return new;
end
$$;
create trigger hide_session_of_protocol before insert on session
  for each row when (new.job is not null or new.runner_id is not null) execute function hide_session_of_protocol();

drop index session_list;
create index session_list on session (client collate "C", id) where delete_time is null and not hidden;
