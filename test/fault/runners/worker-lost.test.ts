// Workers that die, fall silent or lose their connection. The tests move the clock instead of waiting for a timeout.

import { connect } from "node:net";
import { expect, test } from "vitest";
import { RunnerService } from "#gen/runnel/runner/v1/runner_service_pb.js";
import { Run_State } from "#gen/runnel/v1/run_pb.js";
import { query } from "../../harness/database.ts";
import { reasonOf } from "../../harness/grpc.ts";
import { createMovedClock, type MovedClock } from "../../harness/moved-clock.ts";
import { until } from "../../harness/wait.ts";
import { openWire } from "../../harness/wire.ts";
import {
  dispositions,
  done,
  getRun,
  HandWorker,
  hello,
  openWorkerStage,
  readLog,
  start,
} from "../../runners/hand-worker.ts";
import { expectInvariants } from "../invariants.ts";
import { endOffers, loggedNumbers } from "./reported.ts";

const openStage = (clock?: MovedClock) => openWorkerStage({ clock, binding: {} });

// The worker was offered the run and dies before it accepts.
test("a run that was offered to a worker that died goes to another worker", async () => {
  const { client, worker, target, databaseUrl } = await openStage();
  const second = new HandWorker(target);
  await second.register();
  const runId = await start(client);
  const offer = await worker.offer();
  // A run that is offered to one worker is offered to no other.
  const rows = await query(
    databaseUrl,
    `select offer_session from remote_run
     where offer_until > now() + interval '5 s' and offer_until <= now() + interval '10 s'`,
  );
  expect(rows).toEqual([{ offer_session: worker.session }]);
  await endOffers(databaseUrl);
  const run = await second.take();
  expect(run).toMatchObject({ runId, attempt: 1 });
  expect(await worker.accept(offer).catch(reasonOf)).toBe("OFFER_TAKEN");
  expect((await second.report(run, { 1: hello, 2: done })).ended).toBe(true);
  expect(await getRun(client, runId)).toMatchObject({ state: Run_State.COMPLETED });
  await expectInvariants(databaseUrl);
});

test("a worker that is silent for longer than its lease loses its run, which fails and may be retried", async () => {
  const clock = createMovedClock();
  const { client, worker, databaseUrl } = await openStage(clock);
  const runId = await start(client);
  const run = await worker.take();
  // An empty report is enough, and each extends the lease to half a minute from then on.
  for (let reports = 0; reports < 3; reports++) {
    clock.advance(20_000);
    expect((await worker.report(run)).ended).toBe(false);
  }
  await worker.report(run, { 1: hello });
  clock.advance(31_000);
  const log = await readLog(client, runId);
  expect(log.map(({ payload }) => payload)).toMatchObject([
    { case: "messageDelta" },
    { case: "runFailed", value: { code: "runner.disconnected", retryable: true, output: "hello" } },
  ]);
  expect(await worker.report(run, { 2: done }).catch(reasonOf)).toBe("ATTEMPT_STALE");
  const { verdicts } = await client.call(RunnerService.method.listResultVerdicts, { runId });
  expect(verdicts).toEqual([]);
  expect(await getRun(client, runId)).toMatchObject({ state: Run_State.FAILED, failureCode: "runner.disconnected" });
  await expectInvariants(databaseUrl);
});

// The worker lives: its results have arrived, and the answer was lost.
test("a worker whose connection was cut repeats what was not acknowledged", async () => {
  const { client, worker, databaseUrl, app } = await openStage();
  let keepsAnswers = false;
  const wire = await openWire({
    connectFar: () => connect(app.port, app.host),
    inspect: (_link, _data, from) => from === "near" || !keepsAnswers,
  });
  const remote = new HandWorker(`${wire.host}:${wire.port}`);
  remote.session = worker.session;
  const runId = await start(client);
  const run = await remote.take();
  expect(dispositions(await remote.report(run, { 1: hello }))).toEqual(["APPLIED"]);
  keepsAnswers = true;
  const unanswered = remote.report(run, { 2: hello, 3: hello }).catch(({ details }: { details: string }) => details);
  await until("the results to be in the log", async () => (await loggedNumbers(databaseUrl, runId)).length === 3);
  for (const link of wire.links) {
    link.cut();
  }
  expect(await unanswered).toEqual(expect.any(String));
  keepsAnswers = false;

  const again = await until("the worker to be back", async () => {
    return await remote.report(run, { 2: hello, 3: hello, 4: hello }).catch(() => undefined);
  });
  expect(again).toMatchObject({ ended: false, ackedThrough: 4n });
  expect(dispositions(again)).toEqual(["DROPPED_DUPLICATE", "DROPPED_DUPLICATE", "APPLIED"]);
  expect((await remote.report(run, { 5: done })).ended).toBe(true);
  expect(await loggedNumbers(databaseUrl, runId)).toEqual([1, 2, 3, 4, 5]);
  await expectInvariants(databaseUrl);
});
