-- Agents that bindings name: a runner with its configuration and what it may use, for any number of bindings.

create table agent_profile (
  client text not null,
  agent_id text not null,
  body bytea not null,
  create_time timestamptz not null default now(),
  update_time timestamptz not null default now(),
  primary key (client, agent_id)
);
