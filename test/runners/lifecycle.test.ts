// The ends of runs of workers, and events that do not end them.

import { type ServiceError, status } from "@grpc/grpc-js";
import { test as base, describe, expect } from "vitest";
import { RunnerService } from "#gen/runnel/runner/v1/runner_service_pb.js";
import { RunnerWorkerService } from "#gen/runnel/runner/v1/runner_worker_service_pb.js";
import { Run_State } from "#gen/runnel/v1/run_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { query } from "../harness/database.ts";
import { GrpcClient, reasonOf } from "../harness/grpc.ts";
import { startService } from "../harness/service.ts";
import { until } from "../harness/wait.ts";
import {
  type Accepted,
  dispositions,
  done,
  getRun,
  HandWorker,
  hello,
  newEvent,
  openWorkerStage,
  readLog,
  start,
} from "./hand-worker.ts";

const test = base.extend("stage", () => openService());

const openService = (flags = {}) => openWorkerStage({ flags, binding: {} });

test("an answered report is in the log, and a terminal result ends the run", async ({ stage: { client, worker } }) => {
  const runId = await start(client);
  const run = await worker.take();
  expect(run.runId).toBe(runId);
  const first = await worker.report(run, { 1: hello, 2: hello });
  expect(dispositions(first)).toEqual(["APPLIED", "APPLIED"]);
  expect(first).toMatchObject({ ackedThrough: 2n, ended: false, cancelRequested: false });
  const { results } = await client.call(RunService.method.listRunResults, { runId });
  expect(results.map(({ payload, runnerSequence }) => [payload.case, runnerSequence])).toEqual([
    ["messageDelta", 1n],
    ["messageDelta", 2n],
  ]);
  expect(await worker.report(run, { 3: done })).toMatchObject({ ackedThrough: 3n, ended: true });
  expect(await getRun(client, runId)).toMatchObject({ state: Run_State.COMPLETED, output: "hellohello" });
});

test("a repeated report changes nothing, and results after the end are ignored", async () => {
  const { client, worker } = await openService();
  const runId = await start(client);
  const run = await worker.take();
  await worker.report(run, { 1: hello });
  expect(dispositions(await worker.report(run, { 1: hello, 2: hello }))).toEqual(["DROPPED_DUPLICATE", "APPLIED"]);
  const other = await worker.report(run, { 1: ["message.delta", { chunk: { role: "assistant", content: "other" } }] });
  expect(dispositions(other)).toEqual(["DROPPED_DUPLICATE: conflict"]);
  await worker.report(run, { 3: done });
  const late = await worker.report(run, { 4: hello, 5: ["run.failed", { error: "no" }] });
  expect(dispositions(late)).toEqual(["IGNORED_AFTER_TERMINAL", "IGNORED_AFTER_TERMINAL"]);
  expect(late.ended).toBe(true);
  expect((await readLog(client, runId)).map(({ payload }) => payload.case)).toEqual([
    "messageDelta",
    "messageDelta",
    "runCompleted",
  ]);
  const { verdicts } = await client.call(RunnerService.method.listResultVerdicts, { runId });
  expect(verdicts.map(({ sequence, diagnostics }) => [sequence, ...diagnostics])).toEqual([
    [1n],
    [1n, "conflict"],
    [4n],
    [5n],
  ]);
});

describe("a runner", () => {
  test("that fails gives its reason", async ({ stage: { client, worker } }) => {
    const runId = await start(client);
    const run = await worker.take();
    await worker.report(run, {
      1: hello,
      2: ["run.failed", { error: "no agent", code: "agent.away", retryable: true }],
    });
    expect(await getRun(client, runId)).toMatchObject({
      state: Run_State.FAILED,
      failureCode: "agent.away",
      error: "no agent",
      output: "hello",
    });
  });

  test("that reports cancelled without a cancel has failed", async ({ stage: { client, worker } }) => {
    const runId = await start(client);
    await worker.report(await worker.take(), { 1: ["run.failed", { error: "mine", code: "cancelled" }] });
    expect(await getRun(client, runId)).toMatchObject({
      state: Run_State.FAILED,
      failureCode: "cancelled",
      error: "mine",
    });
  });

  test("that finishes without a valid terminal result has failed", async ({ stage: { client, worker } }) => {
    const runId = await start(client);
    const run = await worker.take();
    // A dropped terminal result does not count.
    const answer = await worker.report(run, { 1: hello, 2: ["run.failed", {}] }, { finished: true });
    expect(dispositions(answer)[1]).toMatch(/^DROPPED_INVALID: /);
    expect(answer.ended).toBe(true);
    expect(await getRun(client, runId)).toMatchObject({ state: Run_State.FAILED, failureCode: "runner.no_terminal" });
  });

  test("without a worker fails its run after 60 seconds", async ({ stage: { client, databaseUrl } }) => {
    const runId = await start(client);
    const rows = await query(databaseUrl, "select extract(epoch from wake_at - create_time)::int as seconds from run");
    expect(rows).toEqual([{ seconds: 60 }]);
    await query(databaseUrl, "update run set wake_at = now()");
    const log = await readLog(client, runId);
    expect(log.map(({ payload }) => payload.case)).toEqual(["runFailed"]);
    expect(await getRun(client, runId)).toMatchObject({ state: Run_State.FAILED, failureCode: "runner.unavailable" });
  });
});

describe("a cancel", () => {
  test("of a run without a worker ends it, and it is never offered", async ({ stage: { client, worker } }) => {
    const runId = await start(client);
    await client.call(RunService.method.cancelRun, { runId });
    expect(await getRun(client, runId)).toMatchObject({ state: Run_State.CANCELLED });
    const next = await start(client);
    expect((await worker.offer()).runId).toBe(next);
  });

  test("is in the answer of the next report, and the runner's terminal result counts", async () => {
    const { client, worker } = await openService();
    const runId = await start(client);
    const run = await worker.take();
    await client.call(RunService.method.cancelRun, { runId });
    const told = await until("the cancel", async () => {
      const answer = await worker.report(run);
      return answer.cancelRequested && answer;
    });
    expect(told.ended).toBe(false);
    await worker.report(run, { 1: hello, 2: ["run.failed", { error: "stopped", code: "cancelled" }] });
    expect(await getRun(client, runId)).toMatchObject({
      state: Run_State.CANCELLED,
      failureCode: "cancelled",
      output: "hello",
    });
  });

  test("is sent to a listening worker", async ({ stage: { client, worker } }) => {
    const stream = worker.client.stream(RunnerWorkerService.method.listenAssignments, {
      workerSessionId: worker.session,
    });
    const runId = await start(client);
    const told: unknown[] = [];
    let run: Accepted | undefined;
    for await (const { assignment } of stream) {
      if (assignment.case === "offer") {
        run = await worker.accept(assignment.value);
        await client.call(RunService.method.cancelRun, { runId });
      }
      if (assignment.case === "cancel") {
        told.push(assignment.value.runId);
        await worker.report(run ?? expect.unreachable(), {
          1: ["run.failed", { error: "stopped", code: "cancelled" }],
        });
        break;
      }
    }
    expect(told).toEqual([runId]);
  });

  test("that races a completion has one outcome for every reader", async ({ stage: { client, worker } }) => {
    for (let round = 0; round < 10; round++) {
      const runId = await start(client);
      const run = await worker.take();
      const readers = Promise.all([readLog(client, runId), readLog(client, runId)]);
      await Promise.all([
        worker.report(run, { 1: hello, 2: done }),
        client.call(RunService.method.cancelRun, { runId }),
      ]);
      // A runner that lost the race still reports its terminal result.
      await worker.report(run, { 3: ["run.failed", { error: "stopped", code: "cancelled" }] }).catch(() => {});
      const [one, other] = await readers;
      expect(one.filter(({ payload }) => payload.case === "runCompleted" || payload.case === "runFailed")).toHaveLength(
        1,
      );
      expect(other.map(({ sequence, payload }) => [sequence, payload.case])).toEqual(
        one.map(({ sequence, payload }) => [sequence, payload.case]),
      );
    }
  });
});

describe("an offer", () => {
  test("belongs to one worker: of two that accept, one gets the run", async ({ stage: { client, worker, target } }) => {
    const second = new HandWorker(target);
    await second.register();
    await start(client);
    const offer = await worker.offer();
    const foreign = await second.accept(offer).catch(reasonOf);
    expect(foreign).toBe("OFFER_TAKEN");
    const [one, other] = await Promise.all([worker.accept(offer), worker.accept(offer)]);
    // The same worker may accept again, because its answer may be lost.
    expect(other.runToken).toBe(one.runToken);
  });
});

test("a report without the token of its run gets the answer of an unknown run", async () => {
  const { client, worker, target } = await openService();
  const runId = await start(client, { conversationId: "a" });
  const run = await worker.take();
  await start(client, { conversationId: "b" });
  const own = await worker.take();
  const second = new HandWorker(target);
  await second.register();
  const refusalOf = async (runToken: string, of = runId) =>
    await second
      .report({ runId: of, attempt: 1, runToken }, { 1: done })
      .then(() => undefined)
      .catch(({ code, details }: ServiceError) => ({ code, details }));
  const flip = (text: string) => `${text.slice(0, -2)}${text.at(-2) === "A" ? "B" : "A"}${text.slice(-1)}`;
  const refusals = await Promise.all([
    refusalOf(""),
    refusalOf("rrun_"),
    refusalOf(own.runToken),
    refusalOf(flip(run.runToken)),
    refusalOf(own.runToken.replace(own.runId, runId)),
    refusalOf(own.runToken, "01890000-0000-7000-8000-000000000000"),
    refusalOf("", "01890000-0000-7000-8000-000000000000"),
  ]);
  const refusal = { code: status.NOT_FOUND, details: expect.stringContaining("run_token") };
  expect(refusals).toEqual(refusals.map(() => refusal));
  expect(new Set(refusals.map((each) => each?.details)).size).toBe(1);
  expect((await client.call(RunService.method.listRunResults, { runId })).results).toEqual([]);
  expect(await getRun(client, runId)).toMatchObject({ state: Run_State.RUNNING });
  // The token is sufficient: the worker has registered again.
  expect((await second.report(run, { 1: done })).ended).toBe(true);
});

test("a report at another replica is applied, and the database never holds its token", async () => {
  const { client, worker, databaseUrl } = await openService();
  await query(
    databaseUrl,
    `create table sent (request bytea);
     create function keep() returns trigger language plpgsql as
       $$ begin insert into sent values (new.request); return new; end $$;
     create trigger keep after insert on forwarded_report for each row execute function keep()`,
  );
  const other = await startService({ databaseUrl });
  await start(client);
  const run = await worker.take();
  expect((await new HandWorker(other.target).report(run, { 1: done })).ended).toBe(true);
  const sent = await query<{ request: Buffer }>(databaseUrl, "select request from sent");
  expect(sent.map(({ request }) => request.includes(run.runId))).toEqual([true]);
  expect(sent.map(({ request }) => request.includes("rrun_"))).toEqual([false]);
});

test("a report by another client or with another attempt changes nothing", async () => {
  const { client, worker, target } = await openService();
  const runId = await start(client);
  const run = await worker.take();
  const stranger = new HandWorker(
    target,
    new GrpcClient(target, { authorization: "Bearer key-of-stranger-for-tests" }),
  );
  expect(await stranger.report(run, { 1: done }).catch(reasonOf)).toBe("RUN_NOT_FOUND");
  expect(await worker.report({ ...run, attempt: 2 }, { 1: done }).catch(reasonOf)).toBe("ATTEMPT_STALE");
  expect(await getRun(client, runId)).toMatchObject({ state: Run_State.RUNNING });
});

test("a host that stops sends drain to listeners, which then have to call again", async () => {
  const { worker, close } = await openService();
  const stream = worker.client.stream(RunnerWorkerService.method.listenAssignments, {
    workerSessionId: worker.session,
  });
  const told: unknown[] = [];
  let closing: Promise<void> | undefined;
  const reason = await (async () => {
    for await (const { assignment } of stream) {
      told.push(assignment.case);
      // Closes after the first message, when the stream is open.
      closing ??= close();
    }
  })().catch(reasonOf);
  await closing;
  expect(told).toEqual([undefined, "drain"]);
  expect(reason).toBe("RESUME");
});

test("reports have a higher rate limit than other calls of a client", async () => {
  const { client, worker } = await openService({ rateLimitRps: 1, rateLimitBurst: 8 });
  const runId = await start(client);
  const run = await worker.take();
  for (let sequence = 1; sequence <= 50; sequence++) {
    expect(dispositions(await worker.report(run, { [sequence]: hello }))).toEqual(["APPLIED"]);
  }
  const asked = await Promise.all(Array.from({ length: 10 }, () => getRun(client, runId).catch(reasonOf)));
  expect(asked).toContain("RATE_LIMITED");
  expect((await worker.report(run, { 51: done })).ended).toBe(true);
});

test("the annotations of an event's run come back with its input", async ({ stage: { client } }) => {
  const annotations = '{"ticket":7}';
  const { run } = await client.call(RunnerService.method.startRun, { event: newEvent(), annotations });
  const input = await client.call(RunService.method.getRunInput, { runId: run?.runId ?? "" });
  expect(input.annotations).toBe(annotations);
  const wrong = client.call(RunnerService.method.startRun, { event: newEvent(), annotations: "[]" });
  await expect(wrong).rejects.toMatchObject({ code: status.INVALID_ARGUMENT });
});
