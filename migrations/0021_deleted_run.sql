-- A deleted run is gone for its client. Its rows stay until the retention of its session ends.
alter table run add column delete_time timestamptz;

-- Data of the caller's own that a session keeps.
alter table session add column annotations text;
