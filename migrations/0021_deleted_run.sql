-- A deleted run is gone for its client. Its rows stay until the retention of its session ends. The name of the column differs from
-- that of sessions: statements of the previous version join both tables.
alter table run add column client_delete_time timestamptz;

-- Data of the caller's own that a session keeps.
alter table session add column annotations text;
