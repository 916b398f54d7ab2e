-- Calls of models as they were, while the settings keep them. The texts are bounded and without secrets; the sizes are of the originals.
create table model_call (
  id uuid primary key,
  run_id uuid not null,
  turn int not null,
  provider text not null,
  model text not null,
  create_time timestamptz not null,
  duration_ms int8 not null,
  path text not null,
  request_headers text not null,
  request text not null,
  request_bytes int8 not null,
  is_request_cut boolean not null,
  status int not null,
  answer_headers text not null,
  answer text not null,
  answer_bytes int8 not null,
  is_answer_cut boolean not null,
  error text not null
);
create index model_call_of_run on model_call (run_id, id);
