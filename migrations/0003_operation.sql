-- What running the service needs: where a trace goes on, what clients have spent, which sessions are old.

-- The caller's trace (W3C traceparent), so that whoever goes on with the run goes on with it too.
alter table run add column trace_parent text;

-- What a client's runs have spent on a day (UTC), with what runs at work have set aside. Written only where a budget of a
-- day is set.
create table client_usage (
  client text not null,
  day date not null,
  tokens bigint not null default 0,
  cost_micro_usd bigint not null default 0,
  primary key (client, day)
);

-- The sessions that may have outlived their time; those that have are deleted, so that old ones in it are few.
create index session_age on session (create_time) where delete_time is null;
-- The sessions whose rows may go for good.
create index session_deleted on session (delete_time) where delete_time is not null;
-- Those that a client ever had under an id, for a purge.
create index session_deleted_name on session (client, name) where delete_time is not null;
-- The list of a client's sessions, by a collation that no look-up by client and name asks for: while a table is small or a
-- client is new, the planner took the list's index for such look-ups too, kept that plan, and read all of a client's sessions.
drop index session_of_client;
create index session_list on session (client collate "C", id) where delete_time is null;
