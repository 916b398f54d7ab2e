-- Signed jobs: what was verified, and where it runs.

create table job (
  id uuid primary key,
  client text not null,
  -- The JobSpec in the bytes that were received: what is executed is read out of them again.
  document bytea not null,
  client_job_id text not null,
  jobspec_id text not null,
  version text not null,
  benchmark text not null,
  signature_version int not null,
  public_key bytea not null,
  key_id text not null,
  canonical_sha256 bytea not null,
  canonical_len int not null,
  -- How many runs it has; with fewer it is being erased.
  total_regions int not null,
  min_regions int not null,
  min_success_rate double precision not null,
  -- Both of these as a count: so many runs have to end well.
  successes_min int not null,
  create_time timestamptz not null default now(),
  cancel_request_time timestamptz
);
create index job_of_client on job (client, id);

-- A region of a job is a session of its own, with one run; nobody reaches it by its name. No foreign key: the sessions go
-- before their job does.
alter table session add column job uuid;
alter table session add column region text;
create index session_of_job on session (job) where job is not null;
-- The list has none of them. That also tells the planner, to which one index is as good as another while a table is small, that
-- a look-up by name is not served by the list's.
drop index session_list;
create index session_list on session (client collate "C", id) where delete_time is null and job is null;

-- Nonces of JobSpecs, single for their key. A row outlives the time in which the spec's timestamp is good.
create table job_nonce (
  public_key bytea not null,
  nonce text not null,
  create_time timestamptz not null default now(),
  primary key (public_key, nonce)
);
create index job_nonce_age on job_nonce (create_time);
