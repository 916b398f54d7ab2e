-- The API key that made a ticket, which ends with it; null for a ticket of another credential or of an older version.
alter table stream_ticket
  add column api_key uuid;
