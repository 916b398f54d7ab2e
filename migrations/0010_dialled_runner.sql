-- Runners that are dialled instead of dialling in.

-- What they are sent to know who calls. As it is, since a hash could not be sent.
alter table runner add column credential text;

-- Where a run is dialled and with what; null for one that a worker takes. The credential is here until the run is dialled.
alter table remote_run add column url text;
alter table remote_run add column credential text;
