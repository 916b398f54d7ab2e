-- What runs of runners may be told, and how much they have asked of their host.

create table knowledge_base (
  client text not null,
  kb_id text not null,
  name text not null,
  create_time timestamptz not null default now(),
  primary key (client, kb_id)
);

-- Han and Kana are written without spaces: each of their characters counts as a word.
create function knowledge_words(content text) returns text immutable parallel safe language sql
  return regexp_replace(content, '([\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff])', ' \1 ', 'g');

create table knowledge_entry (
  client text not null,
  kb_id text not null,
  entry_id text not null,
  content text not null,
  -- A JSON object as it was written, and what filters are compared with.
  metadata text not null,
  members jsonb generated always as (metadata::jsonb) stored,
  search tsvector generated always as (to_tsvector('simple', knowledge_words(content))) stored,
  primary key (client, kb_id, entry_id),
  foreign key (client, kb_id) references knowledge_base (client, kb_id) on delete cascade
);
create index knowledge_entry_search on knowledge_entry using gin (search);

alter table remote_run
  add column model_calls int not null default 0,
  add column tool_calls int not null default 0,
  add column used_tokens bigint not null default 0,
  add column used_cost_micro_usd bigint not null default 0;
