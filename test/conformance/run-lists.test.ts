// Many runs at once: lists by filters, bulk cancels, usage by day and over time.

import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { describe, expect } from "vitest";
import { Run_State } from "#gen/runnel/v1/run_pb.js";
import { ListRunsRequest_Order } from "#gen/runnel/v1/run_service_pb.js";
import { UsageGroup } from "#gen/runnel/v1/usage_service_pb.js";
import { answer, type Script } from "../fakes/provider.ts";
import { fail } from "../fakes/wire-server.ts";
import { expectInvariants } from "../fault/invariants.ts";
import { query } from "../harness/database.ts";
import { expectRefused, type Stage, setStage, test } from "./stage.ts";
import type { Surface } from "./surface.ts";
import { findSurface } from "./surfaces.ts";

const kinds = ["gRPC", "REST", "Connect, HTTP/1.1, JSON"].map(findSurface);

const broken: Script = fail(400, JSON.stringify({ error: { message: "The Widget broke: 100% of _it_" } }));
const hang: Script = (wire) => wire.hang();
const used: Script = (wire) => {
  wire.text("well");
  wire.finish("stop");
  wire.usage({ prompt_tokens: 1_000, completion_tokens: 200, total_tokens: 1_200 });
  wire.done();
};

/** Starts a run in a session of its own, and waits for its end unless it hangs. */
async function startRun(
  { api, provider }: Pick<Stage, "api" | "provider">,
  script: Script,
  agent: { name: string; model?: string } = { name: "tester" },
): Promise<{ sessionId: string; runId: string }> {
  const requests = provider.requests.length;
  provider.respond(script);
  const { session_id: sessionId } = await api.createSession({ agent });
  const { run_id: runId } = await api.sendMessage({ sessionId, message: "hello" });
  await (script === hang ? provider.request(requests) : Array.fromAsync(api.followRun(runId)));
  return { sessionId, runId };
}

type ListRequest = Parameters<Surface["listRuns"]>[0];

async function listIds(api: Surface, request: ListRequest): Promise<unknown[]> {
  return (await api.listRuns(request)).runs.map(({ run_id }) => run_id);
}

describe.each(kinds)("over $name", (kind) => {
  test.override("kind", kind);

  test("each filter of a list selects, and all of them together", async ({ stage }) => {
    const { api, service } = stage;
    const { runId: completed } = await startRun(stage, answer("one"), { name: "alpha" });
    const { runId: failed } = await startRun(stage, broken, { name: "beta", model: "gpt-4o" });
    const { runId: running, sessionId } = await startRun(stage, hang, { name: "alpha", model: "gpt-4o" });
    const { runId: deleted } = await startRun(stage, answer("gone"), { name: "alpha" });
    await query(service.databaseUrl, `update run set delete_time = now() where id = '${deleted}'`);
    expect(await listIds(api, {})).toEqual([running, failed, completed]);
    expect(await listIds(api, { states: [Run_State.FAILED] })).toEqual([failed]);
    expect(await listIds(api, { states: [Run_State.COMPLETED, Run_State.FAILED] })).toEqual([failed, completed]);
    expect(await listIds(api, { states: [Run_State.RUNNING, Run_State.QUEUED] })).toEqual([running]);
    expect(await listIds(api, { states: [Run_State.RUNNING, Run_State.FAILED] })).toEqual([running, failed]);
    expect(await listIds(api, { agentName: "alpha" })).toEqual([running, completed]);
    expect(await listIds(api, { agentName: "Alpha" })).toEqual([]);
    expect(await listIds(api, { model: "gpt-4o" })).toEqual([running, failed]);
    expect(await listIds(api, { model: "gpt-4o-mini" })).toEqual([completed]);
    expect(await listIds(api, { runnerId: "some/runner" })).toEqual([]);
    expect(await listIds(api, { errorContains: "the widget BROKE: 100% of _it_" })).toEqual([failed]);
    expect(await listIds(api, { errorContains: "RUNNER." })).toEqual([failed]);
    const { end_time: endTime } = (await api.getRun(failed)) as { end_time: string };
    const changeTime = timestampFromDate(new Date(endTime));
    const order = ListRunsRequest_Order.CHANGE_TIME;
    for (const ordered of [{}, { order }]) {
      expect(await listIds(api, { ...ordered, changeTimeTo: changeTime })).toEqual([completed]);
      expect(await listIds(api, { ...ordered, changeTimeFrom: changeTime, states: [Run_State.FAILED] })).toEqual([
        failed,
      ]);
      expect(await listIds(api, { ...ordered, changeTimeTo: changeTime, states: [Run_State.FAILED] })).toEqual([]);
    }
    expect(await listIds(api, { errorContains: "%" })).toEqual([failed]);
    expect(await listIds(api, { errorContains: "w_dget" })).toEqual([]);
    const { create_time } = await api.getRun(failed);
    const between = timestampFromDate(new Date(String(create_time)));
    expect(await listIds(api, { createTimeFrom: between })).toEqual([running, failed]);
    expect(await listIds(api, { createTimeTo: between })).toEqual([completed]);
    expect(await listIds(api, { createTimeFrom: between, createTimeTo: between })).toEqual([]);
    expect(await listIds(api, { agentName: "alpha", model: "gpt-4o" })).toEqual([running]);
    expect(await listIds(api, { sessionId, agentName: "alpha", states: [Run_State.RUNNING] })).toEqual([running]);
    expect(await listIds(api, { sessionId, states: [Run_State.FAILED] })).toEqual([]);
    const stranger = kind.connect(service, "stranger");
    for (const request of [{}, { agentName: "alpha" }, { states: [Run_State.RUNNING] }, { errorContains: "widget" }]) {
      expect(await listIds(stranger, request)).toEqual([]);
    }
  });

  test("the pages of a list have its filters, and no token fits other filters", async ({ stage }) => {
    const { api } = stage;
    const runs: string[] = [];
    for (const name of ["alpha", "beta", "alpha", "beta", "alpha"]) {
      const { runId } = await startRun(stage, answer("one"), { name });
      runs.unshift(runId);
    }
    const filters = { agentName: "alpha", states: [Run_State.COMPLETED], pageSize: 2 };
    const first = await api.listRuns(filters);
    expect(first.runs.map(({ run_id }) => run_id)).toEqual([runs[0], runs[2]]);
    const pageToken = first.next_page_token ?? "";
    const second = await api.listRuns({ ...filters, pageToken });
    expect(second.runs.map(({ run_id }) => run_id)).toEqual([runs[4]]);
    expect(second.next_page_token ?? "").toBe("");
    for (const other of [{}, { agentName: "beta", states: [Run_State.COMPLETED] }, { agentName: "alpha" }]) {
      await expectRefused(api.listRuns({ ...other, pageToken }), {
        grpcCode: "INVALID_ARGUMENT",
        httpStatus: 400,
        reason: "CURSOR_INVALID",
        text: "page_token was not made for this list: start without one",
      });
    }
  });

  test("a list has as much of each output as it asks for", async ({ stage }) => {
    const { api } = stage;
    const long = "🦊 and so on".repeat(50_000);
    // Whole, only three of them fit into a page.
    for (let index = 0; index < 4; index += 1) {
      await startRun(stage, answer(long));
    }
    const { runId } = await startRun(stage, answer("one"));
    for (const order of [ListRunsRequest_Order.UNSPECIFIED, ListRunsRequest_Order.CHANGE_TIME]) {
      const { runs } = await api.listRuns({ order, outputCharsMax: 2 });
      expect(runs.map(({ output }) => output)).toEqual(["on", "🦊 ", "🦊 ", "🦊 ", "🦊 "]);
      expect(runs.every((run) => run.is_output_cut === true)).toBe(true);
    }
    const first = await api.listRuns({ outputCharsMax: 2, pageSize: 1 });
    // The token fits the same list with other lengths.
    const rest = { pageToken: first.next_page_token ?? "", pageSize: 1 };
    expect((await api.listRuns({ ...rest, outputCharsMax: 1 })).runs).toMatchObject([{ output: "🦊" }]);
    const { runs } = await api.listRuns(rest);
    expect(runs).toMatchObject([{ output: long }]);
    const longId = String(runs[0]?.run_id);
    expect(await api.getRun(longId, 7)).toMatchObject({ output: "🦊 and s", is_output_cut: true, state: "completed" });
    expect(await api.getRun(runId, 3)).not.toHaveProperty("is_output_cut");
    const whole = await api.getRun(longId);
    expect(whole).toMatchObject({ output: long });
    expect(whole).not.toHaveProperty("is_output_cut");
    expect(await api.cancelRun(longId)).toMatchObject({ output: long });
    expect(await api.getRun(runId)).toMatchObject({ output: "one" });
  });

  test("an invalid filter is refused by its name", async ({ api }) => {
    const cases: [ListRequest, string][] = [
      [{ errorContains: "é".repeat(129) }, "error_contains"],
      [{ agentName: "x".repeat(257) }, "agent_name"],
      [{ states: [Run_State.UNSPECIFIED] }, "states[0]"],
      [{ createTimeFrom: { seconds: -1n, nanos: 0 } }, "create_time_from"],
      [{ outputCharsMax: -1 }, "output_chars_max"],
    ];
    for (const [request, field] of cases) {
      const refused = await expectRefused(api.listRuns(request), {
        grpcCode: "INVALID_ARGUMENT",
        httpStatus: 400,
        reason: "INVALID_ARGUMENT",
        text: /^invalid \S+: /,
      });
      expect(refused.violations.map((each) => each.field)).toEqual([field]);
    }
  });

  test("a bulk cancel cancels the active runs that match, and no others", async ({ stage }) => {
    const { api, service } = stage;
    const { runId: ended } = await startRun(stage, answer("one"), { name: "alpha" });
    const { runId: first } = await startRun(stage, hang, { name: "alpha" });
    const { runId: second, sessionId } = await startRun(stage, hang, { name: "beta" });
    const { runId: third } = await startRun(stage, hang, { name: "beta", model: "gpt-4o" });
    const stranger = kind.connect(service, "stranger");
    const { runId: foreign } = await startRun({ ...stage, api: stranger }, hang, { name: "alpha" });
    await expectRefused(api.cancelRuns({}), {
      grpcCode: "INVALID_ARGUMENT",
      httpStatus: 400,
      reason: "INVALID_ARGUMENT",
      text: "invalid all: set at least one filter, or all to true",
    });
    expect(await api.cancelRuns({ agentName: "nobody's" })).toEqual({ cancelled: 0 });
    expect(await api.cancelRuns({ sessionId })).toEqual({ cancelled: 1 });
    expect((await Array.fromAsync(api.followRun(second))).at(-1)?.payload).toMatchObject({ code: "cancelled" });
    expect(await api.cancelRuns({ agentName: "beta", model: "gpt-4o" })).toEqual({ cancelled: 1 });
    expect((await Array.fromAsync(api.followRun(third))).at(-1)?.payload).toMatchObject({ code: "cancelled" });
    expect(await api.getRun(first)).toMatchObject({ state: "running" });
    expect(await api.cancelRuns({ all: true })).toEqual({ cancelled: 1 });
    expect((await Array.fromAsync(api.followRun(first))).at(-1)?.payload).toMatchObject({ code: "cancelled" });
    expect(await api.cancelRuns({ all: true })).toEqual({ cancelled: 0 });
    expect(await api.getRun(ended)).toMatchObject({ state: "completed" });
    expect(await stranger.getRun(foreign)).toMatchObject({ state: "running" });
    expect(await listIds(api, { errorContains: "cancelled" })).toEqual([third, second, first]);
    await expectInvariants(service.databaseUrl);
  });

  test("usage over time counts each ended run of the client once, by agent and model", async ({ stage }) => {
    const { api, service } = stage;
    await startRun(stage, used, { name: "alpha" });
    await startRun(stage, used, { name: "alpha", model: "gpt-4o" });
    await startRun(stage, broken, { name: "beta" });
    const { runId } = await startRun(stage, hang, { name: "gamma" });
    await api.cancelRun(runId);
    await Array.fromAsync(api.followRun(runId));
    await startRun(stage, hang, { name: "gamma" });
    const none = { completed: 0, failed: 0, cancelled: 0, prompt_tokens: 0, completion_tokens: 0, cost_micro_usd: 0 };
    const report = await api.queryUsage({ groupBy: UsageGroup.AGENT });
    expect(report.step_seconds).toBe(300);
    const measured = { duration: { count: 2 }, first_text: { count: 2 } };
    expect(report.series).toMatchObject([
      { name: "alpha", total: { completed: 2, failed: 0, prompt_tokens: 2_000, completion_tokens: 400, ...measured } },
      { name: "beta", total: { ...none, failed: 1, duration: { count: 1 } } },
      { name: "gamma", total: { ...none, cancelled: 1 } },
    ]);
    const again = await api.queryUsage({ groupBy: UsageGroup.AGENT, timeTo: timestampFromDate(new Date()) });
    expect(again.series).toEqual(report.series);
    const byModel = await api.queryUsage({ groupBy: UsageGroup.MODEL, agentName: "alpha" });
    expect(byModel.series).toMatchObject([
      { name: "gpt-4o", total: { completed: 1 } },
      { name: "gpt-4o-mini", total: { completed: 1 } },
    ]);
    const timeFrom = timestampFromDate(new Date(Date.now() - 90 * 86_400_000));
    const { series, step_seconds: step } = await api.queryUsage({ timeFrom, model: "gpt-4o" });
    expect(step).toBe(86_400);
    expect(series).toMatchObject([{ name: "", total: { completed: 1 }, points: [{ completed: 1 }] }]);
    expect((await kind.connect(service, "stranger").queryUsage({})).series).toEqual([]);
    for (const [request, text] of [
      [
        { timeTo: timestampFromDate(new Date(0)), timeFrom },
        /^invalid time_from: must be before time_to, which is 1970/,
      ],
      [
        { timeFrom: timestampFromDate(new Date(0)), timeTo: timeFrom },
        /^invalid time_from: must be at most 92 days before time_to/,
      ],
    ] as const) {
      const refusal = { grpcCode: "INVALID_ARGUMENT", httpStatus: 400, reason: "INVALID_ARGUMENT", text };
      await expectRefused(api.queryUsage(request), refusal);
    }
  });

  test("usage by day counts the ended runs of the client, by model and agent", async ({ stage }) => {
    const { api, service } = stage;
    const { runId: old } = await startRun(stage, used, { name: "alpha" });
    await startRun(stage, used, { name: "alpha" });
    await startRun(stage, used, { name: "alpha" });
    await startRun(stage, used, { name: "beta", model: "gpt-4o" });
    await startRun(stage, broken, { name: "beta" });
    await startRun(stage, hang, { name: "beta" });
    const end = "end_time - interval '40 days'";
    await query(service.databaseUrl, `update run set end_time = ${end} where id = '${old}'`);
    // In case that a fold has counted it today.
    await query(service.databaseUrl, "truncate usage_sum, ended_run");
    await query(service.databaseUrl, "insert into ended_run (run_id) select id from run where end_time is not null");
    const { usage } = (await api.getRun(old)) as { usage: { cost_micro_usd: number } };
    expect(usage.cost_micro_usd).toBeGreaterThan(0);
    const today = new Date().toISOString().slice(0, 10);
    const small = { day: today, model: "gpt-4o-mini" };
    const twice = { runs: 2, prompt_tokens: 2_000, completion_tokens: 400, cost_micro_usd: 2 * usage.cost_micro_usd };
    const days = [
      { day: today, model: "gpt-4o", agent_name: "beta", runs: 1, prompt_tokens: 1_000, completion_tokens: 200 },
      { ...small, agent_name: "alpha", ...twice },
      { ...small, agent_name: "beta", runs: 1, prompt_tokens: 0, completion_tokens: 0, cost_micro_usd: 0 },
    ];
    expect((await api.listUsage({})).days).toMatchObject(days);
    const dayFrom = new Date(Date.now() - 50 * 86_400_000).toISOString().slice(0, 10);
    const pages: unknown[] = [];
    for (let pageToken: string | undefined = ""; pageToken !== undefined; ) {
      const page = await api.listUsage({ dayFrom, pageSize: 1, pageToken });
      pages.push(...page.days);
      pageToken = page.next_page_token || undefined;
    }
    expect(pages).toMatchObject([...days, { model: "gpt-4o-mini", agent_name: "alpha", runs: 1 }]);
    expect((await api.listUsage({ dayFrom, dayTo: dayFrom })).days).toEqual([]);
    expect((await kind.connect(service, "stranger").listUsage({})).days).toEqual([]);
    for (const [request, text] of [
      [{ dayFrom: "2026-02-30" }, "invalid day_from: must be a date such as 2026-11-21"],
      [{ dayTo: "today" }, /^invalid day_to: /],
      [{ dayFrom: "2026-03-02", dayTo: "2026-03-01" }, /^invalid day_from: must not be after day_to/],
      [{ dayFrom: "2026-01-01", dayTo: "2026-04-03" }, /^invalid day_from: must be at most 91 days before day_to/],
    ] as const) {
      const refusal = { grpcCode: "INVALID_ARGUMENT", httpStatus: 400, reason: "INVALID_ARGUMENT", text };
      await expectRefused(api.listUsage(request), refusal);
    }
    expect((await api.listUsage({ dayFrom: "2026-01-01", dayTo: "2026-04-02" })).days).toBeInstanceOf(Array);
  });
});

test("a bulk cancel of more runs than one transaction takes ends queued runs at once", async () => {
  const stage = await setStage(findSurface("gRPC"), { sessionsMaxConcurrent: 1_000 });
  const { api, service } = stage;
  const { runId } = await startRun(stage, hang);
  await query(
    service.databaseUrl,
    `with opened as (
       insert into session (id, client, name, agent)
       select gen_random_uuid(), client, 'many ' || n, '\\x' from run, generate_series(1, 250) as n returning id, client
     )
     insert into run (id, client, session, driver, input, status, epoch, deadline, wake_at)
     select gen_random_uuid(), client, id, 'llm-loop', '\\x', 'queued', 0, now() + interval '1 hour', now() + interval '1 hour'
     from opened`,
  );
  expect(await api.cancelRuns({ all: true })).toEqual({ cancelled: 251 });
  await Array.fromAsync(api.followRun(runId));
  const rows = await query<{ status: string; count: number }>(
    service.databaseUrl,
    "select status, count(*)::int from run group by 1",
  );
  expect(rows).toEqual([{ status: "cancelled", count: 251 }]);
  await expectInvariants(service.databaseUrl);
});
