-- A run of the agent loop asks for the approval of a tool call: it has no runner, and the call refers to its approval.
alter table approval alter column runner_id drop not null;
alter table approval alter column runner_sequence drop not null;
alter table approval add column tool_call_id text;
alter table tool_call add column approval_id uuid;
