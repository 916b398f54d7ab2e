-- What a model gets in place of the first messages of a session: encoded messages, with a summary. The newest row of a session counts;
-- the others are for its forks.
create table compaction (
  session uuid not null,
  -- The position of the newest message that is summarised.
  through bigint not null,
  messages bytea[] not null,
  primary key (session, through)
);
