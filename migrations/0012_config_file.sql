-- Files that configurations of runners name, such as a prompt or a table: put by their client, read by runs that were granted them.

create table config_file (
  client text not null,
  file_key text not null,
  mime_type text,
  content bytea not null,
  update_time timestamptz not null default now(),
  primary key (client, file_key)
);
alter table config_file alter column content set storage external;
