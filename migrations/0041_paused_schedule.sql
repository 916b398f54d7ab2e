-- A paused schedule has no next time. The index of due schedules then has no paused ones, and a replica of the previous version, which
-- does not know the pause, does not work on them.
alter table schedule alter column next_time drop not null;
