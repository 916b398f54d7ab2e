-- A claim visits one client after the other, and reads only the runs of each that are due first.
create index run_queued_of_client on run (client collate "C", wake_at) where status = 'queued';
