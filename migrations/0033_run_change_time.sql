-- When the run last began or ended a wait, asked for an approval or had its decision; null before. No index has it: the changes of an
-- active run stay cheap.
alter table run add column change_time timestamptz;

-- Lists by the last change: of all ended runs of a client, of those of a session, and of the rarer ends. With the id they are in the
-- order of the list, also where many runs end at once.
drop index run_ended_of_client;
create index run_ended_of_client on run (client collate "C", end_time, id) where end_time is not null;
create index run_ended_of_session on run (session, end_time, id) where end_time is not null;
create index run_unsuccessful_of_client on run (client collate "C", status, end_time, id) where status in ('failed', 'cancelled');
