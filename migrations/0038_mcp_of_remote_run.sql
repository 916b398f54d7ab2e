-- The MCP servers of a runner's run and their tools, as they were at its start: JSON. Null for a run without them.
alter table remote_run add column mcp bytea;
