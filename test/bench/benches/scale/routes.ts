// The calls of REST that the bench of scale times.

import { adminToken } from "../../harness/credentials.ts";
import { agent } from "../agent-run.ts";

/** A call. Names in braces are replaced by what earlier calls have kept. */
export interface Route {
  readonly name: string;
  /** The method and the path. */
  readonly call: `${"GET" | "POST" | "PUT" | "DELETE"} ${string}`;
  readonly body?: object;
  /** What to keep of the answer: names, with the path of the value, such as `approvals.0.approval_id`. */
  readonly keeps?: Readonly<Record<string, string>>;
  /** Unset for those of the client. */
  readonly headers?: Readonly<Record<string, string>>;
}

const operator = { authorization: `Bearer ${adminToken}` };
const forumAgent = { "x-runner-token": "{token}", "x-agent-id": "{forumAgent}" };
const message = { message: "deltas=1 gap=0" };
const owner = "session_id={session}";

/** In the order of the calls. */
export const routes: readonly Route[] = [
  { name: "create a session", call: "POST /v1/sessions", body: { agent }, keeps: { session: "session_id" } },
  { name: "send a message", call: "POST /v1/sessions/{session}/messages", body: message, keeps: { run: "run_id" } },
  { name: "follow the run to its end", call: "GET /v1/sessions/{session}/stream" },
  { name: "get a session", call: "GET /v1/sessions/{session}" },
  { name: "list sessions", call: "GET /v1/sessions" },
  { name: "list sessions of a state", call: "GET /v1/sessions?states=completed" },
  { name: "list failed sessions", call: "GET /v1/sessions?states=failed" },
  { name: "list cancelled sessions", call: "GET /v1/sessions?states=cancelled" },
  { name: "list running sessions", call: "GET /v1/sessions?states=running" },
  { name: "list sessions without a run", call: "GET /v1/sessions?states=created" },
  { name: "list sessions of an unknown agent", call: "GET /v1/sessions?agent_name=unknown" },
  { name: "list forks", call: "GET /v1/sessions?fork_of={session}" },
  { name: "list messages", call: "GET /v1/sessions/{session}/transcript" },
  { name: "get a run", call: "GET /v1/runs/{run}" },
  { name: "get a run's input", call: "GET /v1/runs/{run}/input" },
  { name: "list runs", call: "GET /v1/runs" },
  { name: "list runs by their last change, and count", call: "GET /v1/runs?order=change_time&count=true" },
  { name: "list active runs", call: "GET /v1/runs?states=STATE_RUNNING" },
  { name: "list failed runs", call: "GET /v1/runs?states=failed" },
  { name: "list failed runs by their last change", call: "GET /v1/runs?states=failed&order=change_time" },
  { name: "list cancelled runs", call: "GET /v1/runs?states=cancelled" },
  { name: "list runs of an unknown agent", call: "GET /v1/runs?agent_name=unknown" },
  { name: "list runs of an unknown model", call: "GET /v1/runs?model=unknown" },
  { name: "list runs of an unknown model by their last change", call: "GET /v1/runs?model=unknown&order=change_time" },
  { name: "a large page of runs of an unknown agent", call: "GET /v1/runs?agent_name=unknown&page_size=250" },
  { name: "list runs with an unknown failure", call: "GET /v1/runs?failure_code=unknown" },
  { name: "list runs of a session", call: "GET /v1/runs?session_id={session}" },
  { name: "list child runs", call: "GET /v1/runs?parent_run_id={run}" },
  { name: "search runs by a rare word", call: "GET /v1/runs:search?query=777" },
  { name: "search runs by a frequent word", call: "GET /v1/runs:search?query=grown" },
  { name: "search runs by a missing word", call: "GET /v1/runs:search?query=nowhere" },
  { name: "list results", call: "GET /v1/runs/{run}/results" },
  { name: "list calls of models", call: "GET /v1/runs/{run}/model-calls" },
  { name: "get a receipt", call: "GET /v1/runs/{run}/receipt" },
  { name: "cancel all runs", call: "POST /v1/runs:cancel", body: { all: true } },
  { name: "list callbacks", call: "GET /v1/callbacks" },
  { name: "list callbacks of a session", call: "GET /v1/callbacks?session_id={session}" },
  { name: "list dead callbacks", call: "GET /v1/callbacks?state=dead" },
  { name: "list approvals", call: "GET /v1/approvals", keeps: { approval: "approvals.0.approval_id" } },
  { name: "list pending approvals", call: "GET /v1/approvals?state=STATE_PENDING" },
  { name: "list rejected approvals", call: "GET /v1/approvals?state=STATE_REJECTED" },
  { name: "get an approval", call: "GET /v1/approvals/{approval}" },
  { name: "write a memory", call: "PUT /v1/memory/k", body: { session_id: "{session}", value: "seven" } },
  { name: "get a memory", call: `GET /v1/memory/k?${owner}` },
  { name: "list memories", call: `GET /v1/memory?${owner}` },
  { name: "search memories", call: `GET /v1/memory:search?query=seven&${owner}` },
  { name: "delete a memory", call: `DELETE /v1/memory/k?${owner}` },
  {
    name: "create a schedule",
    call: "POST /v1/schedules",
    body: { schedule_id: "s", cron: "0 0 1 1 *", session: { agent }, message },
  },
  { name: "get a schedule", call: "GET /v1/schedules/s" },
  { name: "list schedules", call: "GET /v1/schedules" },
  { name: "delete a schedule", call: "DELETE /v1/schedules/s" },
  { name: "usage of today", call: "GET /v1/usage" },
  { name: "usage by day", call: "GET /v1/usage/days" },
  { name: "usage of a day by agent", call: "GET /v1/usage/points?group_by=agent" },
  { name: "list verdicts", call: "GET /v1/runs/{run}/verdicts" },
  { name: "delete a run", call: "DELETE /v1/runs/{run}" },
  { name: "delete a session", call: "DELETE /v1/sessions/{session}" },
  { name: "purge a session", call: "POST /v1/sessions/{session}:purge", body: {} },

  {
    name: "create an API key",
    call: "POST /v1/auth/keys",
    body: { client_id: "bench" },
    keeps: { key: "api_key.key_id" },
    headers: operator,
  },
  { name: "list API keys", call: "GET /v1/auth/keys", headers: operator },
  { name: "list API keys of a client", call: "GET /v1/auth/keys?client_id=bench", headers: operator },
  { name: "revoke an API key", call: "DELETE /v1/auth/keys/{key}", headers: operator },
  { name: "usage of all clients", call: "GET /v1/clients/-/usage/points?group_by=client", headers: operator },
  { name: "list replicas", call: "GET /v1/replicas", headers: operator },
  { name: "list trusted keys", call: "GET /v1/trust/keys", headers: operator },
  { name: "list trust events", call: "GET /v1/trust/events", headers: operator },
  { name: "list revoked keys", call: "GET /v1/trust/events?type=key.revoked", headers: operator },

  { name: "list jobs", call: "GET /api/v1/jobs" },
  {
    name: "start an exchange",
    call: "POST /v1/exchanges",
    body: { task: "wait" },
    keeps: { exchange: "exchange_id", exchangeRun: "run_id" },
  },
  { name: "get an exchange", call: "GET /v1/exchanges/{exchange}" },
  { name: "list exchanges", call: "GET /v1/exchanges" },
  { name: "cancel an exchange", call: "POST /v1/runs/{exchangeRun}:cancel", body: {} },

  {
    name: "register a runner",
    call: "POST /v1/runners:register",
    body: { worker_id: "bench", manifests: [{ id: "plugin:bench/b/r", name: "r", label: { en_US: "R" } }] },
    keeps: { worker: "worker_session_id" },
  },
  { name: "get a runner", call: "GET /v1/runners/bench/b/r" },
  { name: "list runners", call: "GET /v1/runners" },
  {
    name: "put a binding",
    call: "PUT /v1/bindings/b",
    body: { runner_id: "plugin:bench/b/r", scope: { kind: "bot", id: "x" } },
  },
  { name: "get a binding", call: "GET /v1/bindings/b" },
  { name: "list bindings", call: "GET /v1/bindings" },
  { name: "poll for a run", call: "POST /v1/workers/{worker}/assignments:poll", body: {} },
  { name: "list agents", call: "GET /v1/agents" },
  { name: "list files of configurations", call: "GET /v1/config-files" },
  { name: "list the audit", call: "GET /v1/audit" },
  { name: "list the audit of a run", call: "GET /v1/audit?run_id={run}" },
  { name: "list knowledge bases", call: "GET /v1/knowledge-bases" },

  { name: "list communities", call: "GET /v1/communities", headers: operator },
  {
    name: "list agents of the forum",
    call: "GET /v1/forum-agents",
    keeps: { forumAgent: "agents.0.id" },
    headers: operator,
  },
  {
    name: "issue a credential of an agent",
    call: "POST /v1/forum-agents/{forumAgent}/credentials",
    body: {},
    keeps: { token: "runnerToken" },
    headers: operator,
  },
  { name: "list threads", call: "GET /v1/communities/c/threads", keeps: { thread: "threads.0.id" }, headers: operator },
  { name: "list reports to a human", call: "GET /v1/communities/c/threads?type=REPORT_TO_HUMAN", headers: operator },
  { name: "list comments", call: "GET /v1/threads/{thread}/comments", headers: operator },
  {
    name: "the context of an agent",
    call: "GET /api/agents/context?agentId={forumAgent}&commentLimit=20",
    headers: forumAgent,
  },
  { name: "list communications", call: "GET /v1/decision-agents/a/communications", headers: operator },

  { name: "health", call: "GET /health" },
];
