// Everything that Prometheus can read of a service that has worked: completed, failed and cancelled runs, refused calls,
// readers. No label identifies a caller.

import pg from "pg";
import { expect, test } from "vitest";
import { Run_State } from "#gen/runnel/v1/run_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { openProvider } from "../fixtures.ts";
import { credentialsOf, keyOf } from "../harness/credentials.ts";
import { query } from "../harness/database.ts";
import { GrpcClient } from "../harness/grpc.ts";
import { startService, type TestService } from "../harness/service.ts";
import { signV1 } from "../harness/signing.ts";
import { until } from "../harness/wait.ts";
import { readMetrics } from "./read-metrics.ts";

const clientId = "tenant-a";
const nonce = "nonce-of-the-metrics-test";

const expected: Readonly<Record<string, string>> = {
  runnel_rpc_server_requests_total: "counter",
  runnel_rpc_server_duration_seconds: "histogram",
  runnel_rpc_server_in_flight: "gauge",
  runnel_runs_started_total: "counter",
  runnel_runs_finished_total: "counter",
  runnel_runs_active: "gauge",
  runnel_run_duration_seconds: "histogram",
  runnel_run_queue_wait_seconds: "histogram",
  runnel_run_takeovers_total: "counter",
  runnel_lease_lost_total: "counter",
  runnel_run_oldest_unleased_seconds: "gauge",
  runnel_results_appended_total: "counter",
  runnel_append_duration_seconds: "histogram",
  runnel_append_batch_size: "histogram",
  runnel_fanout_lag_seconds: "histogram",
  runnel_readers: "gauge",
  runnel_reader_dropped_total: "counter",
  runnel_auth_failures_total: "counter",
  runnel_nonce_replays_total: "counter",
  runnel_clock_skew_seconds: "histogram",
  runnel_tool_calls_total: "counter",
  runnel_tool_duration_seconds: "histogram",
  runnel_jail_kills_total: "counter",
  runnel_ssrf_denied_total: "counter",
  runnel_llm_requests_total: "counter",
  runnel_llm_tokens_total: "counter",
  runnel_llm_time_to_first_part_seconds: "histogram",
  runnel_llm_request_duration_seconds: "histogram",
  runnel_llm_frames_skipped_total: "counter",
  runnel_circuit_state: "gauge",
  runnel_budget_stops_total: "counter",
  runnel_loop_interventions_total: "counter",
  runnel_db_pool_in_use: "gauge",
  runnel_db_pool_waiting: "gauge",
  runnel_db_pool_size: "gauge",
  runnel_db_query_duration_seconds: "histogram",
  runnel_listen_connected: "gauge",
  runnel_http_requests_total: "counter",
  runnel_http_request_duration_seconds: "histogram",
  runnel_http_in_flight: "gauge",
  runnel_build_info: "gauge",
  runnel_nodejs_eventloop_lag_seconds: "gauge",
  runnel_nodejs_heap_size_used_bytes: "gauge",
  runnel_process_open_fds: "gauge",
};

test("after work of every kind each metric exists, described and typed, with the right value", async () => {
  const service = await startWithProvider();
  const client = new GrpcClient(service.target, credentialsOf(clientId));
  const completed = await startRun(client, "demo", "words=3");
  expect(await endOf(client, completed)).toBe(Run_State.COMPLETED);
  const failed = await startRun(client, "gpt-4o-mini", "status=400");
  expect(await endOf(client, failed)).toBe(Run_State.FAILED);
  const cancelled = await startRun(client, "demo", "words=1000 pace=20");
  const reader = client.stream(RunService.method.tailRun, { runId: cancelled.runId });
  reader.on("error", () => {});
  await until("the reader", async () => (await readMetrics(service)).value('runnel_readers{transport="grpc"}') === 1);
  expect((await readMetrics(service)).value("runnel_runs_active")).toBe(1);
  await until("the reader to be shown something that it waited for", async () => {
    return ((await readMetrics(service)).value("runnel_fanout_lag_seconds_count") ?? 0) > 0;
  });
  await client.call(RunService.method.cancelRun, { runId: cancelled.runId });
  expect(await endOf(client, cancelled)).toBe(Run_State.CANCELLED);
  await callUninvited(service);

  const { text, types, value } = await until("all to be counted", async () => {
    const figures = await readMetrics(service);
    return (
      figures.value('runnel_readers{transport="grpc"}') === 0 && figures.value("runnel_http_in_flight") === 0 && figures
    );
  });
  expect(Object.fromEntries(Object.keys(expected).map((name) => [name, types.get(name)]))).toEqual(expected);
  expect(Array.from(text.matchAll(/^# HELP (\S+) \S/gm), ([, name]) => name)).toEqual([...types.keys()]);
  expect([...types.keys()].filter((name) => !name.startsWith("runnel_"))).toEqual([]);
  expect(value("runnel_runs_started_total")).toBe(3);
  expect(value("runnel_run_queue_wait_seconds_count")).toBe(3);
  expect(value('runnel_runs_finished_total{status="completed",reason="stop"}')).toBe(1);
  expect(value('runnel_runs_finished_total{status="cancelled",reason="cancelled"}')).toBe(1);
  expect(text).toMatch(/^runnel_runs_finished_total\{status="failed",reason="[a-z_.]+"\} 1$/m);
  expect(value("runnel_run_duration_seconds_count")).toBe(3);
  expect(value("runnel_runs_active")).toBe(0);
  expect(value("runnel_run_oldest_unleased_seconds")).toBe(0);
  expect(value('runnel_results_appended_total{type="run.completed"}')).toBe(1);
  expect(value('runnel_results_appended_total{type="run.failed"}')).toBe(2);
  expect(value('runnel_results_appended_total{type="message.delta"}')).toBeGreaterThan(0);
  expect(value("runnel_append_duration_seconds_count")).toBe(value("runnel_append_batch_size_count"));
  expect(value("runnel_append_batch_size_count")).toBeGreaterThan(0);
  expect(value("runnel_fanout_lag_seconds_count")).toBeGreaterThan(0);
  expect(value('runnel_auth_failures_total{reason="CREDENTIALS_MISSING"}')).toBe(1);
  expect(value('runnel_auth_failures_total{reason="NONCE_REPLAYED"}')).toBe(1);
  expect(value("runnel_nonce_replays_total")).toBe(1);
  // Two in time, one of them twice, and one from an hour ago.
  expect(value("runnel_clock_skew_seconds_count")).toBe(3);
  expect(value('runnel_clock_skew_seconds_bucket{le="120"}')).toBe(2);
  expect(value('runnel_db_pool_size{pool="main"}')).toBe(4);
  expect(value('runnel_db_pool_waiting{pool="main"}')).toBe(0);
  expect(value("runnel_db_query_duration_seconds_count")).toBeGreaterThan(10);
  expect(value("runnel_listen_connected")).toBe(1);
  expect(text).toMatch(/^runnel_build_info\{version="[^"]+",commit="[^"]+"\} 1$/m);
  for (const run of [completed, failed, cancelled]) {
    expect(text).not.toContain(run.sessionId);
    expect(text).not.toContain(run.runId);
  }
  for (const forbidden of [clientId, nonce, keyOf(clientId)]) {
    expect(text).not.toContain(forbidden);
  }
});

test("a database that does not respond costs only the metric that needs it", async () => {
  const service = await startWithProvider();
  const before = await readMetrics(service);
  expect(before.value("runnel_run_oldest_unleased_seconds")).toBe(0);
  // A lock on the table blocks every statement that reads it.
  await using blocker = await lockRuns(service.databaseUrl);
  const during = await readMetrics(service);
  expect(during.value("runnel_run_oldest_unleased_seconds")).toBeUndefined();
  expect(during.types.has("runnel_run_oldest_unleased_seconds")).toBe(true);
  expect(during.value('runnel_db_pool_size{pool="main"}')).toBe(4);
  // A second and a third reader add no statement to the waiting one.
  await readMetrics(service);
  await readMetrics(service);
  const waiting =
    "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%as unleased%'";
  expect(await query(service.databaseUrl, waiting)).toHaveLength(1);
  await blocker.release();
  await until("the answer", async () => {
    return (await readMetrics(service)).value("runnel_run_oldest_unleased_seconds") === 0;
  });
});

async function startWithProvider(): Promise<TestService> {
  const provider = await openProvider();
  return await startService({ metricsPort: 0, openaiKey: "test-key", openaiBaseUrl: provider.baseUrl });
}

interface StartedRun {
  readonly sessionId: string;
  readonly runId: string;
}

async function startRun(client: GrpcClient, model: string, message: string): Promise<StartedRun> {
  const { sessionId } = await client.call(SessionService.method.createSession, { agent: { name: "tester", model } });
  const { runId } = await client.call(SessionService.method.sendMessage, { sessionId, message });
  return { sessionId, runId };
}

async function endOf(client: GrpcClient, { runId }: StartedRun): Promise<Run_State> {
  return await until("the run to end", async () => {
    const { run } = await client.call(RunService.method.getRun, { runId });
    const isOver = run !== undefined && ![Run_State.QUEUED, Run_State.RUNNING].includes(run.state);
    return isOver ? run.state : undefined;
  });
}

/** Calls without credentials; signed an hour ago; and signed correctly, twice. */
async function callUninvited({ url }: TestService): Promise<void> {
  const sessions = `${url}/v1/sessions`;
  expect((await fetch(sessions)).status).toBe(401);
  const signing = { secret: keyOf(clientId), clientId, path: "/v1/sessions" };
  const late = signV1({ ...signing, timestamp: Math.floor(Date.now() / 1_000) - 3_600 });
  expect((await fetch(sessions, { headers: late })).status).toBe(401);
  const headers = signV1({ ...signing, nonce });
  expect((await fetch(sessions, { headers })).status).toBe(200);
  expect((await fetch(sessions, { headers })).status).toBe(401);
}

interface Blocker extends AsyncDisposable {
  release(): Promise<void>;
}

async function lockRuns(url: string): Promise<Blocker> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query("begin");
  await client.query("lock table run in access exclusive mode");
  return {
    release: async () => {
      await client.query("rollback");
    },
    [Symbol.asyncDispose]: () => client.end(),
  };
}
