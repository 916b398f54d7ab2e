-- Memory: values of the state's store that sessions, agents and clients own. Each write of a value gets a higher version, so that a
-- writer learns whether another one came before it.
create sequence state_version start 2;
alter table state_value
  add column version bigint not null default 1,
  -- The session with which the value is deleted.
  add column session uuid;
alter table state_value alter column version set default nextval('state_version');

-- Only look-ups by this column satisfy the condition.
create index state_value_of_session on state_value (session) where session is not null;
