-- The session from which a fork continues: a session lists its forks. Null for a session that began empty, and for forks from before.
alter table session add column forked_from uuid;

-- Only look-ups by this column satisfy the condition.
create index session_of_origin on session (forked_from, id) where forked_from is not null;
