// The deadline of a run: afterwards its results are ignored and its calls refused.

import { type ServiceError, status } from "@grpc/grpc-js";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { InvokeModelRequestSchema } from "#gen/runnel/host/v1/host_model_service_pb.js";
import { HostStorageService } from "#gen/runnel/host/v1/host_storage_service_pb.js";
import { Run_State } from "#gen/runnel/v1/run_pb.js";
import { hangAfter } from "../../fakes/provider.ts";
import { query } from "../../harness/database.ts";
import { reasonOf } from "../../harness/grpc.ts";
import { createMovedClock, type MovedClock } from "../../harness/moved-clock.ts";
import { ask, openThinking } from "../../host/thinking-stage.ts";
import { dispositions, done, getRun, hello, openWorkerStage, readLog, start } from "../../runners/hand-worker.ts";
import { expectInvariants } from "../invariants.ts";

async function openStage({ clock, binding }: { clock?: MovedClock; binding: object }) {
  const stage = await openWorkerStage({ clock, binding });
  const askState = async (run: { runId: string; runToken: string }): Promise<unknown> => {
    const key = { runId: run.runId, scope: "conversation", key: "step" };
    return await stage.hostOf(run).call(HostStorageService.method.getState, key);
  };
  return { ...stage, askState };
}

const codeOf = (error: ServiceError): [status, string | undefined] => [error.code, reasonOf(error)];

test("a silent runner times out at the deadline, and its token is refused", async () => {
  const clock = createMovedClock();
  // Shorter than the lease of a worker, which must not be the cause of the end.
  const { client, worker, askState, databaseUrl } = await openStage({
    clock,
    binding: { runnerConfig: '{"timeout": 20}' },
  });
  const runId = await start(client);
  const run = await worker.take();
  await worker.report(run, { 1: hello });
  expect(await askState(run)).toMatchObject({ found: false });
  clock.advance(20_000);
  // No further event moves the clock: reaching the deadline is enough.
  const log = await readLog(client, runId);
  expect(log.map(({ payload }) => payload)).toMatchObject([
    { case: "messageDelta" },
    { case: "runFailed", value: { code: "runner.timeout", retryable: true, output: "hello" } },
  ]);
  expect(await askState(run).catch(codeOf)).toEqual([status.PERMISSION_DENIED, "GRANT_REFUSED"]);
  const late = await worker.report(run, { 2: done });
  expect([late.ended, ...dispositions(late)]).toEqual([true, "IGNORED_AFTER_TERMINAL"]);
  await expectInvariants(databaseUrl);
});

test("a call after the deadline is refused even while the run has not ended", async () => {
  const { client, worker, askState, databaseUrl } = await openStage({ binding: {} });
  const runId = await start(client);
  const run = await worker.take();
  expect(await askState(run)).toMatchObject({ found: false });
  await query(databaseUrl, "update run set deadline = clock_timestamp() - interval '1 ms'");
  expect(await askState(run).catch(codeOf)).toEqual([status.DEADLINE_EXCEEDED, "RUN_DEADLINE_EXCEEDED"]);
  expect(await getRun(client, runId)).toMatchObject({ state: Run_State.RUNNING });
});

test("a run that no worker takes before its deadline times out", async () => {
  const { client, databaseUrl } = await openStage({ binding: { runnerConfig: '{"timeout": 0.5}' } });
  const runId = await start(client);
  const log = await readLog(client, runId);
  expect(log.map(({ payload }) => payload)).toMatchObject([{ case: "runFailed", value: { code: "runner.timeout" } }]);
  await expectInvariants(databaseUrl);
});

// Only the host gives up: the caller would wait without limit.
test("a call with a longer timeout ends at the deadline of the run", async () => {
  const model = "gpt-4o";
  const { db, provider, thinking, runId, context } = await openThinking({ grant: { models: { [model]: ["invoke"] } } });
  provider.respond(hangAfter("well"));
  await sql`update run set deadline = clock_timestamp() + interval '1 s' where id = ${runId}`.execute(db);
  const call = { runId, modelId: model, messages: ['{"role": "user", "content": "hello"}'] };
  const refused = await ask(thinking.invokeModel, InvokeModelRequestSchema, call, context).catch((error) => error);
  expect(refused).toMatchObject({ reason: "RUN_DEADLINE_EXCEEDED" });
  expect(context.signal.aborted).toBe(false);
});
