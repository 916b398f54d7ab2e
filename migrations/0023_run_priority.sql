-- Among the queued runs of a client, those of a higher priority come first.
alter table run add column priority int not null default 0;
create index run_queued_by_priority on run (client collate "C", priority desc, wake_at) where status = 'queued';
drop index run_queued_of_client;
