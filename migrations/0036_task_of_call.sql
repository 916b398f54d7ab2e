-- The task of a server that works on a call (MCP's Tasks extension): a replica that takes the run over asks for its result. Null for
-- a call without one.
alter table tool_call add column task text;
