// Schedules: their times, what each time gives, and that each gives one run, also with several replicas.

import { create, toBinary } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { ScheduleSchema } from "#gen/runnel/v1/schedule_pb.js";
import { ScheduleService } from "#gen/runnel/v1/schedule_service_pb.js";
import { nextTimeOf } from "../../src/api/schedule-times.ts";
import { advanceSchedule } from "../../src/engine/storage/schedule.ts";
import { setStage } from "../conformance/stage.ts";
import { findSurface } from "../conformance/surfaces.ts";
import { connectHttp2Transport } from "../conformance/transports.ts";
import { answer } from "../fakes/provider.ts";
import { credentialsOf } from "../harness/credentials.ts";
import { query } from "../harness/database.ts";
import { startService } from "../harness/service.ts";
import { until } from "../harness/wait.ts";
import { connect } from "../runlog/store.ts";

async function openSchedules(clientId?: string) {
  const stage = await setStage(findSurface("gRPC"), {}, { own: true });
  const schedules = createClient(ScheduleService, connectHttp2Transport(stage.service.url));
  /** Makes every schedule due that is not paused. */
  const comeDue = async () =>
    await query(
      stage.service.databaseUrl,
      `update schedule set next_time = date_trunc('milliseconds', now()) - interval '1 second'
       where next_time is not null`,
    );
  return { ...stage, schedules, headers: credentialsOf(clientId), comeDue };
}

const morning = {
  cron: "0 7 * * MON-FRI",
  timeZone: "Europe/Rome",
  session: { agent: { name: "reporter" } },
  message: { message: "Report." },
};

test("a time gives one run in a new session, and the next time follows", async () => {
  const { api, provider, schedules, headers, comeDue } = await openSchedules();
  provider.respond(answer("one"), answer("two"));
  const { schedule: created } = await schedules.createSchedule(
    { schedule: { ...morning, scheduleId: "report" } },
    { headers },
  );
  expect(created).toMatchObject({ scheduleId: "report", cron: morning.cron, lastRunId: "" });
  expect(Number(created?.nextTime?.seconds) * 1_000).toBeGreaterThan(Date.now());
  const get = async () => (await schedules.getSchedule({ scheduleId: "report" }, { headers })).schedule;
  await comeDue();
  await until("the run", async () => (await get())?.lastRunId !== "");
  const { lastRunId: first = "" } = (await get()) ?? {};
  expect((await Array.fromAsync(api.followRun(first))).at(-1)?.payload).toMatchObject({ message: { text: "one" } });
  expect(await get()).toMatchObject({ lastError: "", nextTime: created?.nextTime });
  await comeDue();
  await until("the next run", async () => (await get())?.lastRunId !== first);
  const runs = (await api.listRuns({ agentName: "reporter" })).runs;
  expect(new Set(runs.map(({ session_id }) => session_id)).size).toBe(2);
});

test("several replicas make one run of a time", async () => {
  const { api, provider, service, schedules, headers, comeDue } = await openSchedules();
  provider.respond(answer("one"), answer("two"));
  await startService({ databaseUrl: service.databaseUrl, defaultModel: "demo" }, { own: true });
  await schedules.createSchedule({ schedule: { ...morning, scheduleId: "report" } }, { headers });
  await comeDue();
  await until(
    "the run",
    async () => (await schedules.getSchedule({ scheduleId: "report" }, { headers })).schedule?.lastRunId !== "",
  );
  expect((await api.listRuns({})).runs).toHaveLength(1);
});

test("a time in a busy session gives no run, and says why", async () => {
  const { api, provider, schedules, headers, comeDue } = await openSchedules();
  provider.respond((wire) => wire.hang());
  const { session_id: sessionId } = await api.createSession({ agent: { name: "tester" } });
  const { run_id: runId } = await api.sendMessage({ sessionId, message: "Hi" });
  const schedule = { cron: "* * * * *", sessionId, message: { message: "Again" }, scheduleId: "busy" };
  await schedules.createSchedule({ schedule }, { headers });
  await comeDue();
  const get = async () => (await schedules.getSchedule({ scheduleId: "busy" }, { headers })).schedule;
  await until("the refusal", async () => (await get())?.lastError !== "");
  expect(await get()).toMatchObject({ lastRunId: "", lastError: "SESSION_BUSY: session already running" });
  await api.cancelRun(runId);
});

test("a schedule that cannot be worked on holds up no other one", async () => {
  const { service, provider, schedules, headers } = await openSchedules();
  provider.respond(answer("one"));
  for (const scheduleId of ["broken", "whole"]) {
    await schedules.createSchedule({ schedule: { ...morning, scheduleId } }, { headers });
  }
  // The row names a session that no client can have.
  const spec = toBinary(
    ScheduleSchema,
    create(ScheduleSchema, { cron: "* * * * *", session: { sessionId: "\0", agent: { name: "x" } } }),
  );
  await query(service.databaseUrl, "update schedule set spec = $1 where name = 'broken'", [Buffer.from(spec)]);
  // The service works on the schedule that is due longest first, so the broken one comes before the other.
  await query(
    service.databaseUrl,
    `update schedule set next_time = date_trunc('milliseconds', now())
       - case name when 'broken' then interval '2 seconds' else interval '1 second' end`,
  );
  const get = async (scheduleId: string) => (await schedules.getSchedule({ scheduleId }, { headers })).schedule;
  await until("the whole one", async () => (await get("whole"))?.lastRunId !== "");
  expect(await get("broken")).toMatchObject({ lastRunId: "", lastError: "INTERNAL: see the log of the service" });
});

test("schedules are listed, deleted, unique, and those of one client alone", async () => {
  const { schedules, headers } = await openSchedules();
  for (const scheduleId of ["b", "a"]) {
    await schedules.createSchedule({ schedule: { ...morning, scheduleId } }, { headers });
  }
  const again = schedules.createSchedule({ schedule: { ...morning, scheduleId: "a" } }, { headers });
  await expect(again).rejects.toMatchObject({ rawMessage: 'schedule "a" already exists' });
  const first = await schedules.listSchedules({ pageSize: 1 }, { headers });
  const rest = await schedules.listSchedules({ pageSize: 1, pageToken: first.nextPageToken }, { headers });
  expect([...first.schedules, ...rest.schedules].map(({ scheduleId }) => scheduleId)).toEqual(["a", "b"]);
  const stranger = { headers: credentialsOf("stranger") };
  expect((await schedules.listSchedules({}, stranger)).schedules).toEqual([]);
  await expect(schedules.getSchedule({ scheduleId: "a" }, stranger)).rejects.toMatchObject({
    rawMessage: "schedule not found",
  });
  await expect(schedules.deleteSchedule({ scheduleId: "a" }, stranger)).rejects.toMatchObject({
    rawMessage: "schedule not found",
  });
  await schedules.deleteSchedule({ scheduleId: "a" }, { headers });
  await expect(schedules.deleteSchedule({ scheduleId: "a" }, { headers })).rejects.toMatchObject({
    rawMessage: "schedule not found",
  });
});

describe("refused by their names:", () => {
  test.each<[string, object, RegExp]>([
    ["no times", { cron: "" }, /schedule.cron/],
    ["other times", { cron: "tomorrow" }, /^invalid schedule.cron: must have five fields/],
    ["a time that never comes", { cron: "0 0 30 2 *" }, /^invalid schedule.cron: names a time that never comes/],
    ["an unknown zone", { timeZone: "Mars/Olympus" }, /^invalid schedule.time_zone/],
    ["no message", { message: undefined }, /schedule.message/],
    ["two places", { sessionId: "s" }, /exclude each other/],
    [
      "an id of its own",
      { message: { message: "x", requestId: "r" } },
      /^invalid schedule.message.request_id: must be unset/,
    ],
  ])("%s", async (_, changes, problem) => {
    const { schedules, headers } = await openSchedules();
    await expect(schedules.createSchedule({ schedule: { ...morning, ...changes } }, { headers })).rejects.toMatchObject(
      {
        rawMessage: expect.stringMatching(problem),
      },
    );
  });
});

test.each([
  ["0 7 * * *", "Europe/Rome", "2026-03-28T12:00:00Z", "2026-03-29T05:00:00.000Z"],
  ["30 2 * * *", "Europe/Rome", "2026-03-28T12:00:00Z", "2026-03-29T01:00:00.000Z"],
  ["0 7 * * MON-FRI", "", "2026-11-27T07:00:00Z", "2026-11-30T07:00:00.000Z"],
])("the next time of %s in %s after %s is %s", (cron, timeZone, after, next) => {
  expect(nextTimeOf({ cron, timeZone }, Date.parse(after)).toISOString()).toBe(next);
});

test("a paused schedule has no next time and starts nothing; resuming makes up for nothing", async () => {
  const { api, provider, schedules, headers, comeDue } = await openSchedules();
  provider.respond(answer("one"));
  for (const scheduleId of ["paused", "other"]) {
    await schedules.createSchedule({ schedule: { ...morning, scheduleId } }, { headers });
  }
  const get = async (scheduleId: string) => (await schedules.getSchedule({ scheduleId }, { headers })).schedule;
  const before = await get("paused");
  expect(before?.paused).toBe(false);
  const { schedule } = await schedules.pauseSchedule({ scheduleId: "paused" }, { headers });
  expect(schedule).toMatchObject({ paused: true });
  expect(schedule).not.toHaveProperty("nextTime");
  expect((await schedules.pauseSchedule({ scheduleId: "paused" }, { headers })).schedule).toEqual(schedule);
  expect((await schedules.listSchedules({}, { headers })).schedules.map(({ paused }) => paused)).toEqual([false, true]);
  await comeDue();
  await until("the other run", async () => (await get("other"))?.lastRunId !== "");
  expect((await api.listRuns({})).runs).toHaveLength(1);
  const { schedule: resumed } = await schedules.resumeSchedule({ scheduleId: "paused" }, { headers });
  expect(resumed).toMatchObject({ paused: false, nextTime: before?.nextTime, lastRunId: "" });
  expect((await schedules.resumeSchedule({ scheduleId: "paused" }, { headers })).schedule).toEqual(resumed);
});

test("a pause while a time is worked on keeps what the time gave, and stays", async () => {
  const { service, schedules, headers } = await openSchedules();
  await schedules.createSchedule({ schedule: { ...morning, scheduleId: "report" } }, { headers });
  await schedules.pauseSchedule({ scheduleId: "report" }, { headers });
  const [{ id = "" } = {}] = await query<{ id: string }>(service.databaseUrl, "select id from schedule");
  const { db } = connect(service.databaseUrl);
  const time = new Date("2026-01-01T00:00:00Z");
  await advanceSchedule(db, { id, time, nextTime: new Date(), runId: undefined, error: "SESSION_BUSY" });
  const { schedule } = await schedules.getSchedule({ scheduleId: "report" }, { headers });
  expect(schedule).toMatchObject({ paused: true, lastError: "SESSION_BUSY" });
});

test("a trigger starts one run for each request id, which is the last one, and leaves the next time alone", async () => {
  const { api, provider, schedules, headers } = await openSchedules();
  provider.respond(answer("one"), answer("two"), answer("three"));
  const { schedule: created } = await schedules.createSchedule(
    { schedule: { ...morning, scheduleId: "report" } },
    { headers },
  );
  const trigger = (requestId = "") => schedules.triggerSchedule({ scheduleId: "report", requestId }, { headers });
  const [first, again] = await Promise.all([trigger("a"), trigger("a")]);
  expect(again).toEqual(first);
  expect((await Array.fromAsync(api.followRun(first.runId))).at(-1)?.payload).toMatchObject({
    message: { text: expect.stringMatching(/one|two/) },
  });
  const get = async () => (await schedules.getSchedule({ scheduleId: "report" }, { headers })).schedule;
  expect(await get()).toMatchObject({ nextTime: created?.nextTime, lastRunId: first.runId, lastError: "" });
  expect((await get())?.lastTime).toBeDefined();
  await schedules.pauseSchedule({ scheduleId: "report" }, { headers });
  const others = [await trigger(), await trigger()];
  // A repeated call starts nothing, so it does not become the last one again.
  await trigger("a");
  expect(await get()).toMatchObject({ paused: true, lastRunId: others[1]?.runId });
  expect(new Set([first, ...others].map(({ runId }) => runId)).size).toBe(3);
  expect(new Set([first, ...others].map(({ sessionId }) => sessionId)).size).toBe(3);
  expect((await api.listRuns({ agentName: "reporter" })).runs).toHaveLength(3);
});

test("a trigger that a session refuses says so to its caller", async () => {
  const { api, provider, schedules, headers } = await openSchedules();
  provider.respond((wire) => wire.hang());
  const { session_id: sessionId } = await api.createSession({ agent: { name: "tester" } });
  const { run_id: runId } = await api.sendMessage({ sessionId, message: "Hi" });
  const schedule = { cron: "0 7 * * *", sessionId, message: { message: "Again" }, scheduleId: "busy" };
  await schedules.createSchedule({ schedule }, { headers });
  await expect(schedules.triggerSchedule({ scheduleId: "busy" }, { headers })).rejects.toMatchObject({
    rawMessage: "session already running",
  });
  const { schedule: kept } = await schedules.getSchedule({ scheduleId: "busy" }, { headers });
  expect(kept).toMatchObject({ lastRunId: "", lastError: "" });
  await api.cancelRun(runId);
});

test("a message that is refused leaves no session behind, and the same trigger may be repeated", async () => {
  const { api, provider, schedules, headers, comeDue } = await openSchedules();
  provider.respond(answer("one"));
  const session = { agent: { name: "tester" } };
  const wrong = {
    cron: "0 7 * * *",
    session,
    message: { message: "Hi", agent: { temperature: 9 } },
    scheduleId: "wrong",
  };
  await schedules.createSchedule({ schedule: wrong }, { headers });
  const trigger = () => schedules.triggerSchedule({ scheduleId: "wrong", requestId: "a" }, { headers });
  await expect(trigger()).rejects.toMatchObject({ rawMessage: expect.stringContaining("temperature") });
  await expect(trigger()).rejects.toMatchObject({ rawMessage: expect.stringContaining("temperature") });
  await comeDue();
  const get = async () => (await schedules.getSchedule({ scheduleId: "wrong" }, { headers })).schedule;
  await until("the refusal", async () => (await get())?.lastError !== "");
  expect((await api.listSessions({})).sessions).toEqual([]);
});

test("another client's schedule is not found, and REST has the three calls", async () => {
  const { service, provider, schedules, headers } = await openSchedules();
  provider.respond(answer("one"));
  await schedules.createSchedule({ schedule: { ...morning, scheduleId: "report" } }, { headers });
  const stranger = { headers: credentialsOf("stranger") };
  for (const call of [schedules.pauseSchedule, schedules.resumeSchedule, schedules.triggerSchedule]) {
    await expect(call({ scheduleId: "report" }, stranger)).rejects.toMatchObject({ rawMessage: "schedule not found" });
    await expect(call({ scheduleId: "a\0" }, { headers })).rejects.toMatchObject({ rawMessage: "schedule not found" });
  }
  const post = async (verb: string, body = "{}") => {
    const url = `${service.url}/v1/schedules/report:${verb}`;
    const response = await fetch(url, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body,
    });
    return [response.status, await response.json()];
  };
  expect(await post("pause")).toMatchObject([200, { schedule_id: "report", paused: true }]);
  expect(await post("resume")).toMatchObject([200, { schedule_id: "report", next_time: expect.any(String) }]);
  const run = { run_id: expect.any(String), session_id: expect.any(String) };
  expect(await post("trigger", '{"request_id": "once"}')).toEqual([200, run]);
  expect(await post("trigger", JSON.stringify({ request_id: "x".repeat(129) }))).toMatchObject([400, {}]);
});
