-- What operators see of a replica; null for one of an older version.
alter table replica
  add column version text,
  add column slots int;
