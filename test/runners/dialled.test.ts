// Runs of dialled runners: the results on the stream of a call are the log of its run, and a broken call ends the run.

import { once } from "node:events";
import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { RunnerService } from "#gen/runnel/runner/v1/runner_service_pb.js";
import { Run_State } from "#gen/runnel/v1/run_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { completed, delta, message, type Result, type Run, state } from "../../clients/typescript/src/worker/runner.ts";
import { serveRunners } from "../../clients/typescript/src/worker/serve.ts";
import { systemClock } from "../../src/platform/base/clock.ts";
import { createEgress } from "../../src/platform/egress/post.ts";
import { dialRunner } from "../../src/protocols/langbot/runners/dialled-runner.ts";
import { listenRaw } from "../egress/internet.ts";
import { hungUp, openFakeRunner, say, sayDone, sayPiece } from "../fakes/dialled-runner.ts";
import { makeCertificates } from "../harness/certificates.ts";
import { query } from "../harness/database.ts";
import { GrpcClient, reasonOf } from "../harness/grpc.ts";
import { startProcess } from "../harness/process.ts";
import { startService } from "../harness/service.ts";
import { until } from "../harness/wait.ts";
import { runnerOf, startWorker, testRunnerId } from "../harness/worker.ts";
import {
  closedPort,
  finish,
  holdResults,
  listenHttp2,
  mayDial,
  openDialler,
  openProcessStage,
  openStage,
  register,
} from "./dialled-stage.ts";
import { bind, done, getRun, HandWorker, readLog, start } from "./hand-worker.ts";

async function serve(
  run: (run: Run) => AsyncGenerator<Result>,
  options: { credential?: string; hostUrl?: string } = {},
) {
  const server = await serveRunners({ runners: [runnerOf(run)], port: 0, ...options });
  return { ...server, url: `http://127.0.0.1:${server.port}`, [Symbol.asyncDispose]: () => server.close() };
}

async function verdictsOf(client: GrpcClient, runId: string) {
  const { verdicts } = await client.call(RunnerService.method.listResultVerdicts, { runId });
  return verdicts.map(({ sequence, type, diagnostics }) => [Number(sequence), type, ...diagnostics]);
}

async function firstPiece(client: GrpcClient, runId: string): Promise<void> {
  await until("the first piece", async () => {
    const { results } = await client.call(RunService.method.listRunResults, { runId });
    return results.length > 0;
  });
}

async function* converse({ context, host }: Run): AsyncGenerator<Result> {
  yield delta("you ");
  const { found } = await host.getState({ scope: "conversation", key: "count" });
  yield delta(`said ${context.input?.text}`);
  yield state("conversation", "count", found ? 2 : 1);
  yield message(`you said ${context.input?.text}`);
  yield completed();
}

test("a runner has the same log when it dials in and when it is dialled", async () => {
  const dialler = await openDialler();
  await using server = await serve(converse, { credential: "let-me-in", hostUrl: dialler.url });
  const { verdicts, workerSessionId } = await register(dialler.client, server.url, "let-me-in");
  expect(verdicts).toMatchObject([{ runnerId: testRunnerId, accepted: true }]);
  expect(workerSessionId).toBe("");
  const dialledRun = await start(dialler.client);
  const dialled = await readLog(dialler.client, dialledRun);

  const service = await startService();
  const client = new GrpcClient(service.target);
  startWorker(service.url, [runnerOf(converse)]);
  await bind(client);
  await until("the worker's runner", async () => {
    const { runners } = await client.call(RunnerService.method.listRunners, {});
    return runners.length > 0;
  });
  const worked = await readLog(client, await start(client));

  const shown = (log: typeof dialled) =>
    log.map(({ sequence, runnerSequence, payload }) => [sequence, runnerSequence, payload.case]);
  expect(shown(dialled)).toEqual(shown(worked));
  expect(shown(dialled)).toEqual([
    [1n, 1n, "messageDelta"],
    [2n, 2n, "messageDelta"],
    [3n, 3n, "stateUpdated"],
    [4n, 4n, "messageCompleted"],
    [5n, 5n, "runCompleted"],
  ]);
  expect(await getRun(dialler.client, dialledRun)).toMatchObject({
    state: Run_State.COMPLETED,
    runnerId: testRunnerId,
    output: "you said hello",
  });
});

test("a runner gets the full context of its run and its deadline", async () => {
  const stage = await openStage(finish, { credential: "open-sesame", runnersHostUrl: "https://runnel.example" });
  await bind(stage.client, { runnerConfig: JSON.stringify({ timeout: 100 }) });
  const runId = await start(stage.client, { input: { text: "what?" } });
  await readLog(stage.client, runId);
  const [{ request, headers } = expect.fail("no call")] = stage.runner.calls;
  expect(request).toMatchObject({
    runnerId: testRunnerId,
    runnerName: "echo",
    hostUrl: "https://runnel.example",
    context: { runId, input: { text: "what?" } },
  });
  expect(JSON.parse(request.contextJson)).toMatchObject({ run_id: runId, input: { text: "what?" } });
  expect(request.runToken).toMatch(/^rrun_/);
  expect(headers.get("authorization")).toBe("Bearer open-sesame");
  const [, leftMs = ""] = /^(\d+)m$/.exec(headers.get("grpc-timeout") ?? "") ?? [];
  expect(Number(leftMs)).toBeGreaterThan(0);
  expect(Number(leftMs)).toBeLessThanOrEqual(100_000);
});

describe("numbers", () => {
  test("are assigned in order to results without one", async () => {
    const { client } = await openStage(async function* () {
      yield* [sayPiece("a"), sayPiece("b"), sayDone()];
    });
    const runId = await start(client);
    expect((await readLog(client, runId)).map(({ runnerSequence }) => runnerSequence)).toEqual([1n, 2n, 3n]);
    expect(await verdictsOf(client, runId)).toEqual([]);
  });

  test("of the runner follow the rules of reports, and assigned ones continue after the highest", async () => {
    const { client } = await openStage(async function* () {
      yield sayPiece("a", { sequence: 1n });
      yield sayPiece("b", { sequence: 1n });
      yield sayPiece("c", { sequence: 3n });
      yield sayPiece("d", { sequence: 2n });
      yield sayPiece("e", { sequence: 0n });
      yield sayPiece("f", { sequence: 2n ** 62n });
      yield sayPiece("g");
      yield sayDone();
    });
    const runId = await start(client);
    const log = await readLog(client, runId);
    expect(log.map(({ runnerSequence }) => runnerSequence)).toEqual([1n, 3n, 2n, 4n, 5n]);
    expect(await getRun(client, runId)).toMatchObject({ output: "acdg" });
    const wrong = expect.stringMatching(/^sequence is not from 1/);
    expect(await verdictsOf(client, runId)).toEqual([
      [1, "message.delta", "conflict"],
      [3, "message.delta", "gap 2"],
      [2, "message.delta", "out_of_order"],
      [0, "message.delta", wrong],
      [expect.any(Number), "message.delta", wrong],
    ]);
  });
});

describe("a stream", () => {
  test("that ends without a valid terminal result fails its run", async () => {
    const { client } = await openStage(async function* () {
      yield* [sayPiece("a"), say("run.completed", { finish_reason: 7 })];
    });
    const runId = await start(client);
    await readLog(client, runId);
    expect(await getRun(client, runId)).toMatchObject({
      state: Run_State.FAILED,
      failureCode: "runner.no_terminal",
      output: "a",
    });
  });

  test("that is cut fails its run as retryable, and the service does not retry it", async () => {
    const { client, runner } = await openStage(async function* ({ signal }) {
      yield sayPiece("a");
      await hungUp(signal);
    });
    const runId = await start(client);
    await firstPiece(client, runId);
    for (const link of runner.wire.links) {
      link.cut();
    }
    const last = (await readLog(client, runId)).at(-1)?.payload;
    expect(last).toMatchObject({ case: "runFailed", value: { code: "runner.disconnected", retryable: true } });
    expect(await getRun(client, runId)).toMatchObject({ failureCode: "runner.disconnected", output: "a" });
    expect(runner.calls).toHaveLength(1);
  });

  test("is closed after the end of its run, and later results are ignored", async () => {
    const { client, runner } = await openStage(async function* ({ signal }) {
      yield* [sayPiece("a"), sayDone(), sayPiece("late"), say("run.failed", { error: "later" })];
      await hungUp(signal);
    });
    const runId = await start(client);
    expect((await readLog(client, runId)).map(({ payload }) => payload.case)).toEqual(["messageDelta", "runCompleted"]);
    await until("the end of the call", () => runner.calls[0]?.signal.aborted);
    await until("the end of the connection", () => runner.wire.links.size === 0);
  });

  test("with a message over 4 MiB fails its run", async () => {
    const { client, databaseUrl } = await openStage(finish);
    const url = await listenHttp2((stream) => {
      stream.respond({ ":status": 200, "content-type": "application/grpc+proto" });
      // No compression, and a length of 4 MiB and one byte, which are never sent.
      stream.write(Buffer.from([0, 0, 0x40, 0, 1]));
    });
    await query(databaseUrl, `update runner set url = '${url}'`);
    const runId = await start(client);
    await readLog(client, runId);
    expect(await getRun(client, runId)).toMatchObject({
      failureCode: "runner.error",
      error: expect.stringContaining("4194305"),
    });
  });

  test("whose results name another run changes neither run", async () => {
    let other = "";
    const { client } = await openStage(async function* ({ request, signal }) {
      if (request.context?.input?.text === "wait") {
        yield sayPiece("waiting");
        await hungUp(signal);
        return;
      }
      yield* [say("run.completed", { finish_reason: "stop" }, { runId: other }), sayDone()];
    });
    other = await start(client, { conversationId: "other", input: { text: "wait" } });
    const runId = await start(client);
    await readLog(client, runId);
    expect((await verdictsOf(client, runId))[0]?.[0]).toBe(1);
    expect(await getRun(client, other)).toMatchObject({ state: Run_State.RUNNING });
  });
});

describe("a runner", () => {
  test("that cannot be reached fails the run", async () => {
    const { client, databaseUrl } = await openStage(finish);
    await query(databaseUrl, `update runner set url = 'http://127.0.0.1:${await closedPort()}'`);
    const runId = await start(client);
    await readLog(client, runId);
    expect(await getRun(client, runId)).toMatchObject({
      failureCode: "runner.disconnected",
      error: "the runner was lost: connection refused",
    });
  });

  test.for([
    [Code.Unauthenticated, "runner.error"],
    [Code.PermissionDenied, "runner.error"],
    [Code.InvalidArgument, "runner.error"],
    [Code.Unimplemented, "runner.error"],
    [Code.Unavailable, "runner.disconnected"],
    [Code.Internal, "runner.disconnected"],
    [Code.DataLoss, "runner.disconnected"],
  ] as const)("that answers %i fails the run with %s", async ([code, failureCode]) => {
    const { client } = await openStage(async function* () {
      yield sayPiece("a");
      throw new ConnectError(`because${"!".repeat(10_000)}`, code);
    });
    const runId = await start(client);
    await readLog(client, runId);
    const run = await getRun(client, runId);
    expect(run).toMatchObject({ failureCode, output: "a" });
    expect(run?.error.includes("because")).toBe(failureCode === "runner.error");
    expect(run?.error.length).toBeLessThan(700);
  });

  test.for(["says nothing", "does not even shake hands"])("that %s is timed out by the host's clock", async (how) => {
    const { client, databaseUrl } = await openStage(async function* ({ signal }) {
      await hungUp(signal);
      yield sayDone();
    });
    if (how !== "says nothing") {
      await query(databaseUrl, `update runner set url = 'http://127.0.0.1:${await listenRaw(() => {})}'`);
    }
    await bind(client, { runnerConfig: JSON.stringify({ timeout: 1 }) });
    const runId = await start(client);
    const last = (await readLog(client, runId)).at(-1)?.payload;
    expect(last).toMatchObject({ case: "runFailed", value: { code: "runner.timeout", retryable: true } });
  });

  test("whose connection dies silently is noticed", async () => {
    const runner = await openFakeRunner(async function* ({ signal }) {
      yield sayPiece("a");
      await hungUp(signal);
    });
    const egress = createEgress({ clock: systemClock, allowsPrivate: true, exceptions: [] });
    const keepAlive = { pingIntervalMs: 50, pingTimeoutMs: 200 };
    const { signal } = new AbortController();
    const dialled = await dialRunner(egress, { url: runner.url, credential: null }, signal, keepAlive);
    const stream = dialled.client.runAgent({})[Symbol.asyncIterator]();
    expect((await stream.next()).value).toMatchObject({ type: "message.delta" });
    for (const link of runner.wire.links) {
      link.silence();
    }
    await expect(stream.next()).rejects.toMatchObject({ code: Code.Unavailable });
    dialled.close();
  });

  test("is dialled over TLS only with a trusted certificate", async () => {
    const tls = await makeCertificates();
    const server = await serveRunners({ runners: [runnerOf(converse)], port: 0, tls: tls.server });
    const address = { url: `https://127.0.0.1:${server.port}`, credential: null };
    const { signal } = new AbortController();
    const options = { clock: systemClock, allowsPrivate: true, exceptions: [] };
    await expect(dialRunner(createEgress(options), address, signal)).rejects.toThrow("no trust in the TLS of the host");
    const dialled = await dialRunner(createEgress({ ...options, ca: tls.ca }), address, signal);
    expect((await dialled.client.listAgentRunners({})).manifests).toHaveLength(1);
    dialled.close();
    await server.close();
  });
});

test("a cancel closes the call, and the run is cancelled", async () => {
  const { client, runner } = await openStage(async function* ({ signal }) {
    yield sayPiece("a");
    await hungUp(signal);
    yield sayDone();
  });
  const runId = await start(client);
  await firstPiece(client, runId);
  await client.call(RunService.method.cancelRun, { runId });
  expect((await readLog(client, runId)).map(({ payload }) => payload.case)).toEqual(["messageDelta", "runFailed"]);
  expect(await getRun(client, runId)).toMatchObject({ state: Run_State.CANCELLED, output: "a" });
  await until("the runner to know", () => runner.calls[0]?.signal.aborted);
});

test("a dialled run is never offered to a worker, and reports for it are refused", async () => {
  const { client, target, runner } = await openStage(async function* ({ signal }) {
    yield sayPiece("a");
    await hungUp(signal);
  });
  const runId = await start(client);
  const worker = new HandWorker(target);
  // The same worker id with its own session.
  const { workerSessionId } = await client.call(RunnerService.method.registerRunners, { workerId: "dialled" });
  worker.session = workerSessionId;
  await firstPiece(client, runId);
  const reasonWith = (runToken: string) => worker.report({ runId, attempt: 1, runToken }, { 2: done }).catch(reasonOf);
  expect(await reasonWith("")).toBe("RUN_NOT_FOUND");
  expect(await reasonWith(runner.calls[0]?.request.runToken ?? "")).toBe("ATTEMPT_STALE");
  // The offer of a later run proves that this one was skipped.
  await worker.register("by-hand", { id: "plugin:tests/bench/other" });
  await client.call(RunnerService.method.putBinding, {
    binding: { bindingId: "other", runnerId: "plugin:tests/bench/other", eventTypes: ["other.event"] },
  });
  const offered = await start(client, { eventType: "other.event", conversationId: "c-2" });
  expect((await worker.offer()).runId).toBe(offered);
  expect(await getRun(client, runId)).toMatchObject({ state: Run_State.RUNNING });
});

test("fifty concurrent runs on one runner each get their own results", async () => {
  let active = 0;
  const everybody = new EventTarget();
  const here = once(everybody, "here");
  const { client } = await openStage(
    async function* ({ request }) {
      const text = request.context?.input?.text;
      active += 1;
      if (active === 50) {
        everybody.dispatchEvent(new Event("here"));
      }
      yield sayPiece(`first of ${text}; `);
      // Waits until all runs are here.
      await here;
      yield* [sayPiece(`second of ${text}`), sayDone()];
    },
    { sessionsMaxConcurrent: 0, sessionsClientMaxConcurrent: 0 },
  );
  const texts = Array.from({ length: 50 }, (_, index) => `question ${index}`);
  const runs = await Promise.all(
    texts.map((text, index) => start(client, { conversationId: `c-${index}`, input: { text } })),
  );
  await Promise.all(runs.map((runId) => readLog(client, runId)));
  const ended = await Promise.all(runs.map((runId) => getRun(client, runId)));
  expect(ended.map((run) => run?.output)).toEqual(texts.map((text) => `first of ${text}; second of ${text}`));
});

describe("a flood of results", () => {
  // Compares how far the runner gets while writes are blocked with how far it gets with a plain reader.
  test("waits for the writes to the log", { timeout: 180_000 }, async () => {
    const pieces = 1_000;
    const piece = "x".repeat(65_536);
    const said: number[] = [];
    const { client, runner, databaseUrl } = await openStage(
      async function* () {
        const call = said.push(0) - 1;
        for (let count = 1; count <= pieces; count++) {
          said[call] = count;
          yield sayPiece(piece);
        }
        yield sayDone();
      },
      { runnersMaxResultMb: 128 },
    );
    const release = await holdResults(databaseUrl);
    const runId = await start(client);
    await until("the flood", () => (said[0] ?? 0) > 16);
    const egress = createEgress({ clock: systemClock, allowsPrivate: true, exceptions: [] });
    const dialled = await dialRunner(egress, { url: runner.url, credential: null }, new AbortController().signal);
    let read = 0;
    for await (const _ of dialled.client.runAgent({})) {
      read++;
    }
    dialled.close();
    expect(read).toBe(pieces + 1);
    // Two batches of 1 MiB, one of them being written, and the bytes in transit.
    expect(said[0]).toBeLessThan(100);
    await release();
    expect((await readLog(client, runId)).length).toBe(pieces + 1);
  });

  test("beyond the quota is refused, and its terminal result still counts", async () => {
    const { client, databaseUrl } = await openStage(
      async function* () {
        for (let count = 0; count < 2_000; count++) {
          yield sayPiece("x");
        }
        yield sayDone();
      },
      { runnersMaxResults: 20 },
    );
    const runId = await start(client);
    expect(await readLog(client, runId)).toHaveLength(21);
    expect(await getRun(client, runId)).toMatchObject({ state: Run_State.COMPLETED, output: "x".repeat(20) });
    const [{ count } = { count: 0 }] = await query<{ count: number }>(
      databaseUrl,
      "select count(*)::int as count from result_verdict where disposition = 'refused_policy'",
    );
    expect(count).toBe(100);
  });
});

describe("a host that stops", () => {
  test("by kill -9 loses the run, and does not call the runner again", { timeout: 120_000 }, async () => {
    const { runner, ...first } = await openProcessStage(async function* ({ signal }) {
      yield sayPiece("a");
      await hungUp(signal);
    });
    const runId = await start(first.client);
    await firstPiece(first.client, runId);
    await first.kill();
    await until("the runner to know", () => runner.calls[0]?.signal.aborted);
    const second = await startProcess(first.environment);
    const client = new GrpcClient(second.target);
    const log = await readLog(client, runId);
    expect(log.at(-1)?.payload).toMatchObject({ case: "runFailed", value: { code: "host.run_lost" } });
    expect(await getRun(client, runId)).toMatchObject({ state: Run_State.FAILED, output: "a" });
    expect(runner.calls).toHaveLength(1);
  });

  test("gracefully loses the run too", async () => {
    const { client, runner, databaseUrl, close } = await openStage(async function* ({ signal }) {
      yield sayPiece("a");
      await hungUp(signal);
    });
    const runId = await start(client);
    await firstPiece(client, runId);
    await close();
    const second = await startService({ ...mayDial, databaseUrl });
    const other = new GrpcClient(second.target);
    const log = await readLog(other, runId);
    expect(log.at(-1)?.payload).toMatchObject({ case: "runFailed", value: { code: "host.run_lost" } });
    expect(runner.calls).toHaveLength(1);
  });
});
