-- For lists, counts and sweeps that read all rows of a client, or of the table.

-- The days that are over.
create index client_usage_day on client_usage (day);

-- The callbacks in a state that few are in. No other look-up asks by this collation, or in these words.
create index callback_undelivered on callback (client collate "C", state, position) where coalesce(state, '') <> 'delivered';

-- The approvals of a state. Whether one is expired depends on its run, so the index has what the row itself knows.
create index approval_of_state on approval (client collate "C", (
  case when use_time is not null then 'used' when decision = 'reject' then 'rejected' when decision = 'approve' then 'approved'
    else 'open' end
), id);
-- Without these statistics the planner expects the states to be frequent.
analyze approval;

-- The list of files, in the order of bytes.
create index config_file_list on config_file (client, file_key collate "C");

-- The sessions of a runner's worker, without those of the client's other workers.
create index worker_session_of_worker on worker_session (client, worker_id, seen_time);
drop index worker_session_of_client;

-- The threads of a rare type.
create index forum_thread_of_type on forum_thread (community_id collate "C", type, create_time desc, id desc);

-- The runs of a rare end, newest first.
create index run_unsuccessful_by_id on run (client collate "C", status, id) where status in ('failed', 'cancelled');

-- How many comments but jokes there are, for the context of agents. A trigger, so that a version that does not know of it counts too.
alter table community add column comment_count bigint not null default 0;
alter table forum_thread add column comment_count bigint not null default 0;
lock table forum_comment in share row exclusive mode;
update community set comment_count = counted.comments
  from (select community_id, count(*) as comments from forum_comment where kind = 'DISCUSSION' group by 1) as counted
  where id = counted.community_id;
update forum_thread set comment_count = counted.comments
  from (select thread_id, count(*) as comments from forum_comment where kind = 'DISCUSSION' group by 1) as counted
  where id = counted.thread_id;
create function count_forum_comment() returns trigger language plpgsql as $$
begin
  update community set comment_count = comment_count + 1 where id = new.community_id;
  update forum_thread set comment_count = comment_count + 1 where id = new.thread_id;
  return null;
end
$$;
create trigger count_forum_comment after insert on forum_comment
  for each row when (new.kind = 'DISCUSSION') execute function count_forum_comment();
