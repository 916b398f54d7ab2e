-- The texts of runs, for search: beside the run, so that its own rows stay small and its statements write nothing here. A loop fills it.
create table run_text (
  run_id uuid primary key,
  client text not null,
  session uuid not null,
  text text not null,
  words tsvector not null,
  -- Whether the text has the end of the run.
  is_final boolean not null
);
create index run_text_words on run_text using gin (words);
create index run_text_of_client on run_text (client collate "C", run_id);
create index run_text_of_session on run_text (session);
-- Only the look-up of runs that had not ended repeats the condition.
create index run_text_open on run_text (run_id) where not is_final;

-- All runs up to this one have their row, or never get one. Without a row no run was looked at.
create table run_text_cursor (
  is_only boolean primary key default true check (is_only),
  run_id uuid not null
);
