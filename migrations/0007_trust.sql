-- Trust: whose JobSpecs are run, what was changed about that and what was refused, and the keys that receipts are signed with.

create table trusted_key (
  kid text collate "C" primary key,
  public_key bytea not null unique,
  status text not null default 'active' check (status in ('active', 'revoked')),
  not_before timestamptz,
  not_after timestamptz,
  -- Whom, where and what it is good for; none means everybody, everywhere and everything.
  client_ids text[] not null default '{}',
  regions text[] not null default '{}',
  runners text[] not null default '{}',
  create_time timestamptz not null default now(),
  update_time timestamptz not null default now()
);

-- The audit. Ids are uuidv7: they sort by time.
create table trust_event (
  id uuid primary key,
  type text not null,
  actor text not null,
  kid text,
  public_key bytea,
  error_code text,
  document_sha256 bytea,
  detail text,
  create_time timestamptz not null default now()
);
create index trust_event_of_type on trust_event (type, id);

-- Keys of the service's own. The newest signs; the others stay, so that what they signed can be checked.
create table receipt_key (
  kid text primary key,
  -- PKCS#8, DER.
  private_key bytea not null,
  public_key bytea not null,
  position bigint generated always as identity unique,
  create_time timestamptz not null default now()
);
