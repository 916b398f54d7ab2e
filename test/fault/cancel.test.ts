// Cancels at every moment of a run. The run ends exactly once.

import { status } from "@grpc/grpc-js";
import { expect, test } from "vitest";
import { Run_State } from "#gen/runnel/v1/run_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { callTools, startFakeProvider } from "../fakes/provider.ts";
import { fail } from "../fakes/wire-server.ts";
import { GrpcClient } from "../harness/grpc.ts";
import { startService } from "../harness/service.ts";
import { until } from "../harness/wait.ts";
import { getRun, openCluster, startOwnRun, startRun } from "./cluster.ts";
import { freezeFiles } from "./frozen-files.ts";
import { expectInvariants } from "./invariants.ts";
import { expectStored, LogReader, readLog } from "./log-reader.ts";

/** Enough to hit each gap between two steps of a run many times. */
const racesCount = 1_000;
/** Far below the maximum of 100 streams per connection, with two streams per race. */
const racesAtOnce = 40;
const raceTimeoutMs = 360_000;

type Race = (client: GrpcClient, run: { sessionId: string; runId: string }) => Promise<unknown>;

// A cancel has its own path (the run's row, a wake-up, the stop) while the run hurries to its end. The races cancel at each
// stage of runs that mostly last a few milliseconds. So some cancels win, some lose, and some meet the terminal result in
// its transaction.
const races: readonly Race[] = [
  // Before the first result.
  (client, { runId }) => cancel(client, runId),
  async (client, { runId }) => {
    await seeResults(client, runId, 1);
    await cancel(client, runId);
  },
  // Close to the end.
  async (client, { runId }) => {
    await seeResults(client, runId, 2);
    await cancel(client, runId);
  },
  (client, { runId }) => Promise.all([cancel(client, runId), cancel(client, runId), cancel(client, runId)]),
  (client, { sessionId }) => client.call(SessionService.method.deleteSession, { sessionId }),
  async (client, { sessionId, runId }) => {
    await seeResults(client, runId, 1);
    await Promise.all([client.call(SessionService.method.deleteSession, { sessionId }), cancel(client, runId)]);
  },
];

/** From runs that end before a cancel can arrive to runs that it surely meets; those in between race. */
const lengths = ["words=1 pace=0", "words=3 pace=4", "words=5 pace=8", "words=100 pace=20", "words=8 pace=2"];

test("a thousand cancels that race with completion leave one terminal each", { timeout: raceTimeoutMs }, async () => {
  const service = await startService({ sessionsMaxConcurrent: 0, databasePoolSize: 8 });
  const client = new GrpcClient(service.target);
  const ended: Run_State[] = [];
  for (let first = 0; first < racesCount; first += racesAtOnce) {
    const batch = Array.from({ length: racesAtOnce }, (_, index) => raceOnce(client, first + index));
    ended.push(...(await Promise.all(batch)));
  }
  expect(ended.length).toBeGreaterThanOrEqual(racesCount);
  // If one side always won, there was no race.
  expect(new Set(ended)).toEqual(new Set([Run_State.COMPLETED, Run_State.CANCELLED]));
  await expectInvariants(service.databaseUrl);
});

async function raceOnce(client: GrpcClient, number: number): Promise<Run_State> {
  const race = races[number % races.length];
  if (race === undefined) {
    throw new Error("no race");
  }
  const run = await startRun(client, lengths[number % lengths.length] ?? "");
  const reader = new LogReader(run.runId);
  const following = reader.follow(client);
  await race(client, run);
  expect(await following).toBe(status.OK);
  const { state } = await getRun(client, run.runId);
  expect(reader.results.at(-1)?.payload.case).toBe(state === Run_State.COMPLETED ? "runCompleted" : "runFailed");
  // A second cancel, after the end, changes nothing.
  expect(await cancel(client, run.runId)).toMatchObject({ state, lastSequence: BigInt(reader.results.length) });
  return state;
}

// The only slot is taken, so the second run stays queued: the replica that gets the cancel ends it in place.
test("a queued run that is cancelled ends at once and never starts", async () => {
  const service = await startService({ runsSlots: 1 });
  const client = new GrpcClient(service.target);
  const busy = await startRun(client, "words=1000 pace=1000");
  const queued = await startRun(client, "words=1 pace=0");
  expect(await getRun(client, queued.runId)).toMatchObject({ state: Run_State.QUEUED });

  expect(await cancel(client, queued.runId)).toMatchObject({ state: Run_State.CANCELLED, lastSequence: 1n });
  expect(await cancel(client, queued.runId)).toMatchObject({ state: Run_State.CANCELLED, lastSequence: 1n });
  const log = await readLog(client, queued.runId);
  expect(log.map(({ payload }) => payload)).toMatchObject([{ case: "runFailed", value: { code: "cancelled" } }]);
  expect((await getRun(client, queued.runId)).startTime).toBeUndefined();

  // The slot that becomes free goes to a later run.
  const later = await startRun(client, "words=1 pace=0");
  await cancel(client, busy.runId);
  await readLog(client, later.runId);
  expect(await getRun(client, later.runId)).toMatchObject({ state: Run_State.COMPLETED });
  expect(await readLog(client, queued.runId)).toEqual(log);
  await expectInvariants(service.databaseUrl);
});

// A parked run has no owner and a wake time. Its cancel must not wait for that time, and the time must not wake it.
test("a waiting run that is cancelled ends at once and does not wake", async () => {
  await using provider = await startFakeProvider();
  // Short enough to pass within the test: the later run, parked for as long, then wakes.
  const pause = fail(429, '{"error":{"message":"slow down"}}', { "retry-after": "6" });
  provider.respond(pause, pause);
  const { baseUrl } = provider;
  const service = await startService({ openaiKey: "a-key", openaiBaseUrl: baseUrl, defaultModel: "openai:fake" });
  const client = new GrpcClient(service.target);
  const cancelled = await startRun(client, "go");
  await until("the run to wait", async () => (await getRun(client, cancelled.runId)).state === Run_State.WAITING);
  const reader = new LogReader(cancelled.runId);
  const following = reader.follow(client);
  const later = await startRun(client, "n=1");

  expect(await cancel(client, cancelled.runId)).toMatchObject({ state: Run_State.CANCELLED });
  expect(await following).toBe(status.OK);
  expect(reader.results.at(-1)?.payload).toMatchObject({ case: "runFailed", value: { code: "cancelled" } });
  await readLog(client, later.runId);
  expect(await getRun(client, later.runId)).toMatchObject({ state: Run_State.COMPLETED });
  expect(provider.requests).toHaveLength(3);
  await expectStored(service.databaseUrl, cancelled.runId, reader.results);
  await expectInvariants(service.databaseUrl);
});

// The process that gets the call does not own the run, so the cancel has to reach the owner.
test("a run can be cancelled through a process that does not own it", async () => {
  // So long that a busy machine takes the run from no owner.
  const cluster = await openCluster({ RUNNEL_RUNS_LEASE_MS: "60000" });
  const [owner, other] = await Promise.all([cluster.start(), cluster.startHere()]);
  const { runId } = await startOwnRun(cluster, owner, "words=1000 pace=100");
  const reader = new LogReader(runId);
  const following = reader.follow(other.client);
  await until("some text", () => reader.count("messageDelta") >= 3);

  await cancel(other.client, runId);
  expect(await following).toBe(status.OK);
  expect(reader.results.at(-1)?.payload).toMatchObject({ case: "runFailed", value: { code: "cancelled" } });
  const run = await getRun(owner.client, runId);
  expect(run).toMatchObject({ state: Run_State.CANCELLED, takeovers: 0 });
  expect(await cancel(other.client, runId)).toEqual(await cancel(owner.client, runId));
  await expectStored(cluster.databaseUrl, runId, reader.results);
  await expectInvariants(cluster.databaseUrl);
});

// The calls hang in a frozen file system when the cancel comes. It must not wait for them. Readers who saw them start still
// get one result for each, before the terminal result and in the order of the calls.
test("a run that is cancelled while its tools hang has one result per call", async () => {
  await using provider = await startFakeProvider();
  const frozen = Promise.withResolvers<void>();
  const ids = ["a", "b", "c", "d", "e", "f", "g"];
  const calls = ids.map((id) => ({ id, name: "list_dir", arguments: JSON.stringify({ path: ".", call: id }) }));
  provider.respond(async (wire, request) => {
    await frozen.promise;
    await callTools(...calls)(wire, request);
  });
  const service = await startService({
    openaiKey: "a-key",
    openaiBaseUrl: provider.baseUrl,
    defaultModel: "openai:fake",
    databasePoolSize: 2,
  });
  const client = new GrpcClient(service.target);
  const { runId } = await startRun(client, "list", { name: "fault", tools: { builtin: ["list_dir"] } });
  const reader = new LogReader(runId);
  const following = reader.follow(client);
  // The run has its work directory and calls the model.
  await provider.request(0);
  // A login to Postgres uses the threads that are about to freeze, so all connections must be open before.
  await until("the batchWriter to be connected", () => reader.results.length > 0);
  await Promise.all(Array.from({ length: 20 }, () => getRun(client, runId)));
  const thaw = freezeFiles();
  frozen.resolve();
  await until("the calls to start", () => reader.count("toolCallStarted") === ids.length);

  await cancel(client, runId);
  expect(await following).toBe(status.OK);
  await thaw();
  const ended = reader.results.flatMap(({ payload }) => (payload.case === "toolCallCompleted" ? [payload.value] : []));
  expect(ended.map(({ toolCallId }) => toolCallId)).toEqual(ids);
  expect(ended.every(({ error }) => error?.startsWith("interrupted: "))).toBe(true);
  expect(await getRun(client, runId)).toMatchObject({ state: Run_State.CANCELLED });
  await expectStored(service.databaseUrl, runId, reader.results);
  await expectInvariants(service.databaseUrl);
});

async function cancel(client: GrpcClient, runId: string): Promise<unknown> {
  return (await client.call(RunService.method.cancelRun, { runId })).run;
}

/** Reads a run's log up to the given number of results, and then leaves. */
async function seeResults(client: GrpcClient, runId: string, count: number): Promise<void> {
  let seen = 0;
  const stream = client.stream(RunService.method.tailRun, { runId });
  for await (const { results } of stream) {
    seen += results.length;
    if (seen >= count) {
      break;
    }
  }
  expect(seen).toBeGreaterThanOrEqual(count);
}
