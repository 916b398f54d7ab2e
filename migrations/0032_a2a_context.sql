-- The context that an A2A agent keeps of a session, by which it continues the conversation.
create table a2a_context (
  session uuid primary key,
  -- The name of the agent in the settings.
  agent text not null,
  -- The agent's own id of its context.
  context_id text not null,
  -- The task that asked for input, which the next message answers.
  task_id text,
  -- Of the newest text that the agent knows: another one means that the conversation has changed without it.
  last_sha256 bytea not null,
  update_time timestamptz not null default now()
);
