// The SDK for runner authors against a real service: the results that its runners yield are the log of their runs.

import { expect, test } from "vitest";
import { RunnerService } from "#gen/runnel/runner/v1/runner_service_pb.js";
import { Run_State } from "#gen/runnel/v1/run_pb.js";
import { completed, delta, type Result, type Run } from "../../clients/typescript/src/worker/runner.ts";
import { query } from "../harness/database.ts";
import { GrpcClient } from "../harness/grpc.ts";
import { startService } from "../harness/service.ts";
import { until } from "../harness/wait.ts";
import { runnerOf, startWorker } from "../harness/worker.ts";
import { bind, getRun, readLog, start } from "./hand-worker.ts";

async function openService(run: (run: Run) => AsyncGenerator<Result>, flags: object = {}) {
  const service = await startService(flags);
  const client = new GrpcClient(service.target);
  const worker = startWorker(service.url, [runnerOf(run)]);
  await until("the runner", async () => {
    const { runners } = await client.call(RunnerService.method.listRunners, {});
    return runners.length > 0;
  });
  await bind(client);
  return { ...service, client, worker };
}

test("two hundred concurrent runs on one worker each get their own results", { timeout: 120_000 }, async () => {
  let most = 0;
  let active = 0;
  let release = (): void => {};
  const everybody = new Promise<void>((resolve) => {
    release = resolve;
  });
  const { client, worker } = await openService(
    async function* ({ context }) {
      most = Math.max(most, ++active);
      if (active === 200) {
        release();
      }
      yield delta(`first of ${context.input?.text}; `);
      // Waits until all runs are here.
      await everybody;
      for (let piece = 0; piece < 5; piece++) {
        yield delta(`${context.input?.text} ${piece}; `);
      }
      yield completed(`answer to ${context.input?.text}`);
      active--;
    },
    { sessionsMaxConcurrent: 0, sessionsClientMaxConcurrent: 0 },
  );
  const texts = Array.from({ length: 200 }, (_, index) => `question ${index}`);
  const runs: string[] = [];
  // The runs are concurrent, their starts are not: on a busy machine 200 calls at once wait too long for a connection.
  for (const [index, text] of texts.entries()) {
    runs.push(await start(client, { conversationId: `c-${index}`, input: { text } }));
  }
  const logs = await Promise.all(runs.map((runId) => readLog(client, runId)));
  expect(most).toBe(200);
  for (const [index, log] of logs.entries()) {
    expect(log.map(({ sequence }) => Number(sequence))).toEqual([1, 2, 3, 4, 5, 6, 7]);
    const said = log.map(({ payload }) =>
      payload.case === "messageDelta" ? payload.value.chunk?.content : payload.case,
    );
    const pieces = [0, 1, 2, 3, 4].map((piece) => `${texts[index]} ${piece}; `);
    expect(said).toEqual([`first of ${texts[index]}; `, ...pieces, "runCompleted"]);
  }
  expect(worker.problems).toEqual([]);
});

test("a runner that throws fails its run, and its worker continues", async () => {
  const { client } = await openService(async function* ({ context }) {
    if (context.input?.text === "bad") {
      throw new Error("no idea");
    }
    yield completed("good");
  });
  const bad = await start(client, { input: { text: "bad" } });
  await readLog(client, bad);
  expect(await getRun(client, bad)).toMatchObject({ failureCode: "runner.exception", error: "no idea" });
  const good = await start(client);
  await readLog(client, good);
  expect(await getRun(client, good)).toMatchObject({ state: Run_State.COMPLETED });
});

test("a worker reconnects to a restarted service, and registers again when its session is gone", async () => {
  const here = async function* (): AsyncGenerator<Result> {
    yield completed("here");
  };
  const first = await openService(here);
  await readLog(first.client, await start(first.client));
  const sessionsOf = () => query<{ id: string }>(first.databaseUrl, "select id from worker_session");
  const [session] = await sessionsOf();
  const restart = async (before: { close: () => Promise<void> }) => {
    await before.close();
    return await startService({ databaseUrl: first.databaseUrl, serverPort: Number(new URL(first.url).port) });
  };
  const second = await restart(first);
  const client = new GrpcClient(second.target);
  await readLog(client, await start(client));
  expect(await sessionsOf()).toEqual([session]);
  await query(first.databaseUrl, "delete from worker_session");
  const third = await restart(second);
  const again = new GrpcClient(third.target);
  const runId = await start(again);
  await readLog(again, runId);
  expect(await getRun(again, runId)).toMatchObject({ state: Run_State.COMPLETED, output: "here" });
});
