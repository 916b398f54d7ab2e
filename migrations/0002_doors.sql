-- The doors: who may call. Nothing here can be used to call: keys and tickets are kept as hashes.

-- Nonces of signed requests. A row is the proof that its request was made; it outlives twice the window in which the
-- request's timestamp is good.
create table nonce (
  -- The credential that signed, so that neither another client nor another claimed id makes a nonce new again.
  scope text not null,
  nonce text not null,
  create_time timestamptz not null default now(),
  primary key (scope, nonce)
);
create index nonce_age on nonce (create_time);

create table api_key (
  id uuid primary key,
  client text not null,
  display_name text not null,
  hash bytea not null unique,
  create_time timestamptz not null default now(),
  expire_time timestamptz,
  revoke_time timestamptz
);
create index api_key_of_client on api_key (client, id);

-- Tickets to one stream. Exactly one of session and run is set.
create table stream_ticket (
  hash bytea primary key,
  client text not null,
  session text,
  run uuid,
  create_time timestamptz not null default now(),
  open_time timestamptz,
  check ((session is null) <> (run is null))
);
create index stream_ticket_age on stream_ticket (create_time);

-- Where a session's tools and status are called back.
alter table session add column callback bytea;
