-- A look-up of a session by its name implies the condition of this index too. A plan that was made while few sessions existed, or
-- few that were not deleted, read all of it. The condition means the same, and the planner finds it only where a statement repeats it.
drop index session_age;
create index session_to_expire on session (create_time) where coalesce(delete_time, 'infinity') = 'infinity';

-- Approvals that expired without a decision stay. The list of pending approvals reads none of them.
drop index approval_open;
create index approval_pending on approval (client, expire_time) where decision is null;
