// The metrics alone: how events change them, and that no text of a caller becomes a label permanently.

import { expect, test } from "vitest";
import { createEvents, type Events } from "../../src/platform/telemetry/events.ts";
import { createMetrics, type Metrics } from "../../src/platform/telemetry/metrics.ts";
import { createManualClock, type ManualClock } from "../harness/manual-clock.ts";
import { type MetricsText, parseMetrics } from "./read-metrics.ts";
import { openTestLog } from "./test-log.ts";

interface Stage {
  readonly events: Events;
  readonly metrics: Metrics;
  readonly clock: ManualClock;
  readonly read: () => Promise<MetricsText>;
}

function setStage(): Stage {
  const clock = createManualClock();
  const metrics = createMetrics({ version: "1.2.3", commit: "0123abc", toolNames: ["read_file"], clock });
  const events = createEvents(openTestLog("silent").logger, metrics.listeners);
  return { events, metrics, clock, read: async () => parseMetrics(await metrics.print()) };
}

test("a model's response counts by provider, code and cause, with its tokens and times", async () => {
  const { events, read } = setStage();
  const answer = { provider: "openai", model: "gpt-4o-mini", code: "ok", durationMs: 1_500, firstPartMs: 300 };
  events.modelResponded({ ...answer, promptTokens: 10, completionTokens: 4 });
  events.modelResponded({ ...answer, code: "429", cause: "rate_limit", firstPartMs: undefined });
  const { text, value } = await read();
  expect(value('runnel_llm_requests_total{provider="openai",code="ok",cause=""}')).toBe(1);
  expect(value('runnel_llm_requests_total{provider="openai",code="429",cause="rate_limit"}')).toBe(1);
  expect(value('runnel_llm_tokens_total{provider="openai",direction="input"}')).toBe(10);
  expect(value('runnel_llm_tokens_total{provider="openai",direction="output"}')).toBe(4);
  expect(value('runnel_llm_request_duration_seconds_sum{provider="openai"}')).toBe(3);
  expect(value('runnel_llm_time_to_first_part_seconds_count{provider="openai"}')).toBe(1);
  // Names of models are texts of callers.
  expect(text).not.toContain("gpt-4o-mini");
});

test("the circuit of a provider has the state that its breakers have when it is read", async () => {
  const { metrics, read } = setStage();
  const state = async () => (await read()).value('runnel_circuit_state{provider="openai"}');
  expect(await state()).toBeUndefined();
  const states = { closed: 0, open: 2, "half-open": 1 } as const;
  for (const [name, value] of Object.entries(states)) {
    metrics.attach({ readCircuits: () => [{ provider: "openai", state: name as keyof typeof states }] });
    expect(await state()).toBe(value);
  }
});

test("tools that are not built in share one label", async () => {
  const { events, read } = setStage();
  events.toolFinished({ tool: "read_file", outcome: "ok", durationMs: 20 });
  events.toolFinished({ tool: "of-a-tenant", outcome: "ok", durationMs: 20 });
  events.toolFinished({ tool: "dreamt_of", outcome: "failed", durationMs: 20 });
  const { text, value } = await read();
  expect(value('runnel_tool_calls_total{tool="read_file",outcome="ok"}')).toBe(1);
  expect(value('runnel_tool_calls_total{tool="other",outcome="ok"}')).toBe(1);
  expect(value('runnel_tool_calls_total{tool="other",outcome="failed"}')).toBe(1);
  expect(value('runnel_tool_duration_seconds_count{tool="other"}')).toBe(2);
  expect(text).not.toMatch(/of-a-tenant|dreamt_of/);
});

test("killed commands count by limit, refused targets by the rule that refused them", async () => {
  const { events, read } = setStage();
  events.commandKilled({ limit: "time" });
  events.commandKilled({ limit: "disk" });
  events.commandKilled({ limit: "disk" });
  events.egressDenied({ kind: "address" });
  const { value } = await read();
  expect(value('runnel_jail_kills_total{limit="time"}')).toBe(1);
  expect(value('runnel_jail_kills_total{limit="disk"}')).toBe(2);
  expect(value('runnel_ssrf_denied_total{class="address"}')).toBe(1);
});

test("budgets, loops, takeovers and lost leases count", async () => {
  const { events, read } = setStage();
  events.budgetReached({ runId: "r", budget: "run_tokens" });
  events.loopDetected({ runId: "r", tool: "read_file" });
  events.runTakenOver({ runId: "r", takeovers: 1 });
  events.leaseLost({ replicaId: "r", why: "silence" });
  const { value } = await read();
  expect(value('runnel_budget_stops_total{budget="run_tokens"}')).toBe(1);
  expect(value("runnel_loop_interventions_total")).toBe(1);
  expect(value("runnel_run_takeovers_total")).toBe(1);
  expect(value("runnel_lease_lost_total")).toBe(1);
});

test("only the first start of a run reports how long it waited", async () => {
  const { events, read } = setStage();
  events.runStarted({ runId: "r", epoch: 1, queueWaitMs: 250 });
  events.runStarted({ runId: "r", epoch: 2 });
  const { value } = await read();
  expect(value("runnel_runs_started_total")).toBe(2);
  expect(value("runnel_run_queue_wait_seconds_sum")).toBe(0.25);
  expect(value("runnel_run_queue_wait_seconds_count")).toBe(1);
});

test("codes are labels up to a maximum number of codes", async () => {
  const { events, read } = setStage();
  for (let index = 0; index < 200; index++) {
    events.runFinished({ runId: "r", status: "failed", code: `code.${index}`, durationMs: 1, turns: 1 });
  }
  const { text, value } = await read();
  expect(text.match(/^runnel_runs_finished_total\{/gm)).toHaveLength(51);
  expect(value('runnel_runs_finished_total{status="failed",reason="code.0"}')).toBe(1);
  expect(value('runnel_runs_finished_total{status="failed",reason="other"}')).toBe(150);
});

test("an extreme clock skew counts as an hour", async () => {
  const { events, read } = setStage();
  events.signatureTimed({ skewSeconds: -9e15 });
  events.signatureTimed({ skewSeconds: 2 });
  const { value } = await read();
  expect(value("runnel_clock_skew_seconds_sum")).toBe(3_602);
});

test("the oldest waiting run is queried once at a time, for at most a second", async () => {
  const { metrics, clock, read } = setStage();
  const oldest = "runnel_run_oldest_unleased_seconds";
  const asked: PromiseWithResolvers<number>[] = [];
  metrics.attach({
    oldestUnleasedMs: () => {
      const answer = Promise.withResolvers<number>();
      asked.push(answer);
      return answer.promise;
    },
  });
  const late = read();
  await clock.slept(1);
  clock.advance(1_000);
  expect((await late).value(oldest)).toBeUndefined();
  const again = read();
  await clock.slept(2);
  expect(asked).toHaveLength(1);
  asked[0]?.resolve(31_000);
  expect((await again).value(oldest)).toBe(31);
  const failing = read();
  await clock.slept(3);
  asked[1]?.reject(new Error("no database"));
  expect((await failing).value(oldest)).toBeUndefined();
});
