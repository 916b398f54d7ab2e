// The SDK for runner authors when runners, workers or the network misbehave.

import { connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { Runner_State } from "#gen/runnel/runner/v1/runner_pb.js";
import { RunnerService } from "#gen/runnel/runner/v1/runner_service_pb.js";
import { Run_State } from "#gen/runnel/v1/run_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { completed, delta, failed, type Result, type Run, state } from "../../clients/typescript/src/worker/runner.ts";
import { runWorker, type WorkerOptions } from "../../clients/typescript/src/worker/worker.ts";
import { keyOf } from "../harness/credentials.ts";
import { query } from "../harness/database.ts";
import { GrpcClient } from "../harness/grpc.ts";
import { startService } from "../harness/service.ts";
import { until } from "../harness/wait.ts";
import { openWire, type Wire } from "../harness/wire.ts";
import { runnerOf, startWorker } from "../harness/worker.ts";
import { bind, getRun, readLog, start } from "./hand-worker.ts";

async function openService(run: (run: Run) => AsyncGenerator<Result>, options: Partial<WorkerOptions> = {}) {
  const service = await startService();
  const client = new GrpcClient(service.target);
  // The worker connects through a proxy that tests can cut.
  const { port } = new URL(service.url);
  const wire = await openWire({ connectFar: () => connect(Number(port), "127.0.0.1") });
  const worker = startWorker(`http://${wire.host}:${wire.port}`, [runnerOf(run)], options);
  await until("the runner", async () => {
    const { runners } = await client.call(RunnerService.method.listRunners, {});
    return runners.some((runner) => runner.state === Runner_State.AVAILABLE);
  });
  await bind(client);
  return { ...service, client, worker, wire };
}

async function untilResults(client: GrpcClient, runId: string, count: number): Promise<void> {
  await until("its results", async () => {
    const { results } = await client.call(RunService.method.listRunResults, { runId });
    return results.length >= count;
  });
}

function cutAll({ links }: Wire): void {
  for (const link of [...links]) {
    link.cut();
  }
}

async function aborted(signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

function sessions(databaseUrl: string): Promise<{ id: string }[]> {
  return query(databaseUrl, "select id from worker_session");
}

test("a runner that yields after its run has ended is closed with return()", async () => {
  let isOpen = true;
  const { client } = await openService(async function* () {
    try {
      yield completed("done");
      for (;;) {
        yield delta("more");
      }
    } finally {
      isOpen = false;
    }
  });
  const runId = await start(client);
  const log = await readLog(client, runId);
  expect(log.map(({ payload }) => payload.case)).toEqual(["runCompleted"]);
  await until("the runner's end", () => !isOpen);
});

test("a runner that never returns is abandoned after its run has ended, and does not delay the stop of its worker", async () => {
  const { client, worker } = await openService(async function* () {
    yield failed("that is all");
    await new Promise(() => {});
  });
  const runId = await start(client);
  await readLog(client, runId);
  await worker.stop();
  expect(await getRun(client, runId)).toMatchObject({ state: Run_State.FAILED, error: "that is all" });
});

test("a worker that stops abandons runs whose runners do not end", async () => {
  const { client, worker } = await openService(
    async function* () {
      yield delta("busy");
      await new Promise(() => {});
    },
    { endMaxMs: 50 },
  );
  const runId = await start(client);
  await untilResults(client, runId, 1);
  await worker.stop();
  expect(await getRun(client, runId)).toMatchObject({ state: Run_State.RUNNING });
});

test("runs continue while their worker is disconnected, in the session in which they were accepted", async () => {
  let goOn = (): void => {};
  const mayGoOn = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const { client, wire, worker, databaseUrl } = await openService(async function* ({ signal }) {
    yield delta("before, ");
    await mayGoOn;
    yield delta("after");
    await aborted(signal);
    yield failed("told", { code: "cancelled" });
  });
  const runId = await start(client);
  await untilResults(client, runId, 1);
  const before = await sessions(databaseUrl);
  cutAll(wire);
  goOn();
  await untilResults(client, runId, 2);
  await until("the worker to listen again", () => wire.links.size > 0);
  await client.call(RunService.method.cancelRun, { runId });
  const log = await readLog(client, runId);
  expect(log.map(({ runnerSequence }) => runnerSequence)).toEqual([1n, 2n, 3n]);
  expect(await getRun(client, runId)).toMatchObject({ state: Run_State.CANCELLED, output: "before, after" });
  expect(await sessions(databaseUrl)).toEqual(before);
  expect(worker.problems.length).toBeGreaterThan(0);
});

const untakeable: readonly [what: string, make: () => Result, error: string][] = [
  [
    "is too large",
    () => delta("x".repeat(2_100_000)),
    "a message.delta of 2100043 bytes: a result has at most 2097152",
  ],
  [
    "has no data",
    () => ({ type: "odd", data: undefined as unknown as Result["data"] }),
    "a result of type odd without data: give it an object",
  ],
  [
    "has a number that JSON cannot have",
    () => ({ type: "odd", data: { n: 1n } }),
    "Do not know how to serialize a BigInt",
  ],
  [
    "sets a state to undefined",
    () => state("conversation", "k", undefined),
    'the state k would get an invalid JSON value: use null for "no value"',
  ],
];

test.each(untakeable)("a result that %s fails its run with the reason, and uses no number", async (_, make, error) => {
  const { client } = await openService(async function* () {
    yield delta("first");
    yield make();
  });
  const runId = await start(client);
  const log = await readLog(client, runId);
  expect(log.map(({ payload, runnerSequence }) => [payload.case, runnerSequence])).toEqual([
    ["messageDelta", 1n],
    ["runFailed", 2n],
  ]);
  expect(await getRun(client, runId)).toMatchObject({ failureCode: "runner.exception", error });
});

test("the worker's operator sees the first dropped or odd result of each kind", async () => {
  const problems: unknown[] = [];
  const { client } = await openService(
    async function* () {
      yield { type: "message.delta", data: { text: "no chunk" } };
      yield { type: "message.delta", data: { text: "nor here" } };
      yield { type: "message.delta", data: { chunk: { role: "assistant", content: "good" } } };
      yield { type: "made.up", data: {} };
      yield { type: "run.completed", data: { finish_reason: "stop" } };
    },
    { onProblem: (problem) => problems.push(problem) },
  );
  const runId = await start(client);
  await readLog(client, runId);
  await until("both problems", () => problems.length >= 2);
  expect(problems.map((problem) => (problem as Error).message)).toEqual([
    expect.stringMatching(new RegExp(`^run ${runId}: result 1 \\(message\\.delta\\) dropped_invalid: .*chunk`)),
    expect.stringMatching(new RegExp(`^run ${runId}: result 4 \\(made\\.up\\) ignored_unknown: `)),
  ]);
});

test("a worker with a wrong key or an invalid manifest gets the error and stops", async () => {
  const { url } = await startService();
  const runner = runnerOf(async function* () {});
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const options = { url, workerId: "w", runners: [runner], signal: stop.signal };
  await expect(runWorker({ ...options, apiKey: "wrong" })).rejects.toMatchObject({ name: "RefusedWorker" });
  // An empty key is a missing key, so the error differs from that of a wrong one.
  await expect(runWorker({ ...options, apiKey: "" })).rejects.toMatchObject({
    message: "missing signature, timestamp, or nonce",
  });
  const bad = runnerOf(async function* () {}, { capabilities: { streaming: "yes" } });
  await expect(runWorker({ ...options, apiKey: keyOf(), runners: [bad] })).rejects.toMatchObject({
    name: "RefusedWorker",
    message: expect.stringContaining("streaming"),
  });
});
