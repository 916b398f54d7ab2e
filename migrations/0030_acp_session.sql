-- The session that a coding agent keeps of a session, by which it continues the conversation.
create table acp_session (
  session uuid primary key,
  -- The name of the agent in the settings.
  agent text not null,
  -- The agent's own id of its session.
  acp_session text not null,
  -- Of the newest text that the agent knows: another one means that the conversation has changed without it.
  last_sha256 bytea not null,
  update_time timestamptz not null default now()
);
