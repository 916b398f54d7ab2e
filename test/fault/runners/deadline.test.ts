// The deadline of a run: from then on nothing of it counts, and nothing is done for it, whatever its runner or its calls say.

import { type ServiceError, status } from "@grpc/grpc-js";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { InvokeModelRequestSchema } from "#gen/runnel/host/v1/host_model_service_pb.js";
import { HostStorageService } from "#gen/runnel/host/v1/host_storage_service_pb.js";
import { Run_State } from "#gen/runnel/v1/run_pb.js";
import { query } from "../../harness/database.ts";
import { GrpcClient, reasonOf } from "../../harness/grpc.ts";
import { createMovedClock, type MovedClock } from "../../harness/moved-clock.ts";
import { startService } from "../../harness/service.ts";
import { ask, openThinking } from "../../host/thinking-stage.ts";
import { bind, dispositions, done, getRun, HandWorker, hello, readLog, start } from "../../runners/hand-worker.ts";
import { expectInvariants } from "../invariants.ts";

async function openStage({ clock, binding }: { clock?: MovedClock; binding: object }) {
  const service = await startService({}, clock === undefined ? {} : { clock });
  const client = new GrpcClient(service.target);
  const worker = new HandWorker(service.target);
  await worker.register();
  await bind(client, binding);
  const askState = async (run: { runId: string; runToken: string }): Promise<unknown> => {
    const authorization = `Bearer ${run.runToken}`;
    const key = { runId: run.runId, scope: "conversation", key: "step" };
    return await client.call(HostStorageService.method.getState, key, { authorization });
  };
  return { ...service, client, worker, askState };
}

const codeOf = (error: ServiceError): [status, string | undefined] => [error.code, reasonOf(error)];

test("a silent runner times out at the deadline, and its token is dead", async () => {
  const clock = createMovedClock();
  // Shorter than the lease of a worker, which is not what ends it.
  const { client, worker, askState, databaseUrl } = await openStage({
    clock,
    binding: { runnerConfig: '{"timeout": 20}' },
  });
  const runId = await start(client);
  const run = await worker.take();
  await worker.report(run, { 1: hello });
  expect(await askState(run)).toMatchObject({ found: false });
  clock.advance(20_000);
  // Nothing moves the clock on: that the deadline is there is enough.
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

test("a call after the deadline is refused also while the run is still there", async () => {
  const { client, worker, askState, databaseUrl } = await openStage({ binding: {} });
  const runId = await start(client);
  const run = await worker.take();
  expect(await askState(run)).toMatchObject({ found: false });
  await query(databaseUrl, "update run set deadline = clock_timestamp() - interval '1 ms'");
  expect(await askState(run).catch(codeOf)).toEqual([status.DEADLINE_EXCEEDED, "RUN_DEADLINE_EXCEEDED"]);
  expect(await getRun(client, runId)).toMatchObject({ state: Run_State.RUNNING });
});

test("a run that nobody takes before its deadline times out there", async () => {
  const { client, databaseUrl } = await openStage({ binding: { runnerConfig: '{"timeout": 0.5}' } });
  const runId = await start(client);
  const log = await readLog(client, runId);
  expect(log.map(({ payload }) => payload)).toMatchObject([{ case: "runFailed", value: { code: "runner.timeout" } }]);
  await expectInvariants(databaseUrl);
});

// Nobody gives up but the host: the caller waits for as long as it gets no answer.
test("a call that its caller gives more time ends with the time of the run", async () => {
  const model = "gpt-4o";
  const { db, provider, thinking, runId, context } = await openThinking({ grant: { models: { [model]: ["invoke"] } } });
  provider.respond((wire) => {
    wire.text("well");
    return wire.hang();
  });
  await sql`update run set deadline = clock_timestamp() + interval '1 s' where id = ${runId}`.execute(db);
  const call = { runId, modelId: model, messages: ['{"role": "user", "content": "hello"}'] };
  const refused = await ask(thinking.invokeModel, InvokeModelRequestSchema, call, context).catch((error) => error);
  expect(refused).toMatchObject({ reason: "RUN_DEADLINE_EXCEEDED" });
  expect(context.signal.aborted).toBe(false);
});
