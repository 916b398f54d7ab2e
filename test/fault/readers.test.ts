// Readers of every kind: late, cut off, stuck, slow, ahead of the log. Each gets exactly the results that it asked for, and
// none affects the run or another reader.

import { status } from "@grpc/grpc-js";
import { expect, test } from "vitest";
import { Run_State } from "#gen/runnel/v1/run_pb.js";
import { modelFlags } from "../conformance/stage.ts";
import { type Script, startFakeProvider } from "../fakes/provider.ts";
import { credentialsOf } from "../harness/credentials.ts";
import { GrpcClient } from "../harness/grpc.ts";
import { createHeldClock } from "../harness/held-clock.ts";
import { startService } from "../harness/service.ts";
import { until } from "../harness/wait.ts";
import { getRun, openCluster, openProvider, startRun } from "./cluster.ts";
import { expectInvariants } from "./invariants.ts";
import { expectStored, LogReader, readLog, SseLogReader } from "./log-reader.ts";
import { probeResources, resourceProbe } from "./resource-probe.ts";
import { openStuckGrpc, openStuckSse, type StuckReader } from "./stuck-readers.ts";

test("live readers and a late one get the same bytes", async () => {
  const service = await startService();
  const client = new GrpcClient(service.target);
  const { runId } = await startRun(client, "words=60 pace=5");
  const atOnce = [new LogReader(runId), new LogReader(runId)];
  const sseAtOnce = [new SseLogReader(runId), new SseLogReader(runId)];
  await Promise.all([
    ...atOnce.map(async (reader) => expect(await reader.follow(client)).toBe(status.OK)),
    ...sseAtOnce.map(async (reader) => expect(await reader.follow(service.url)).toBe("finished")),
  ]);
  const late = new LogReader(runId);
  expect(await late.follow(client)).toBe(status.OK);
  const sseLate = new SseLogReader(runId);
  expect(await sseLate.follow(service.url)).toBe("finished");

  for (const reader of [...atOnce, late]) {
    await expectStored(service.databaseUrl, runId, reader.results);
  }
  for (const reader of sseAtOnce) {
    expect(reader.events).toEqual(sseLate.events);
  }
  expect(sseLate.events).toHaveLength(late.results.length);
  await expectInvariants(service.databaseUrl);
});

test("a reader that resumes at any place of a finished run gets exactly the rest", async () => {
  const service = await startService();
  const client = new GrpcClient(service.target);
  // Slow enough that a busy machine does not put all words into a few commits.
  const { runId } = await startRun(client, "words=100 pace=30");
  const log = await readLog(client, runId);
  const sseReader = new SseLogReader(runId);
  await sseReader.follow(service.url);
  expect(log.length).toBeGreaterThan(10);
  for (let after = 0; after < log.length; after++) {
    expect(await readLog(client, runId, after)).toEqual(log.slice(after));
    const resumed = new SseLogReader(runId);
    resumed.events.push(...sseReader.events.slice(0, after));
    expect(await resumed.follow(service.url)).toBe("finished");
    expect(resumed.events).toEqual(sseReader.events);
  }
});

// The worst connection possible: it breaks after each result, while the run continues. Later results of the same message
// are dropped as if they had never arrived.
test("a reader that is cut off after every single result of a live run misses nothing", async () => {
  const service = await startService();
  const client = new GrpcClient(service.target);
  const { runId } = await startRun(client, "words=40 pace=10");
  const reader = new LogReader(runId);
  let cuts = 0;
  while (reader.count("runCompleted") === 0) {
    await reader.takeOne(client);
    cuts++;
  }
  expect(cuts).toBe(reader.results.length);
  await expectStored(service.databaseUrl, runId, reader.results);
  await until("the registrations to be gone", () => service.app.countReaders() === 0);
});

/** The test moves several hundred MB, and other tests share the machine. */
const stuckTimeoutMs = 240_000;
/** The number of stuck readers of each kind, from the start and again when everything is written. */
const stuckReadersCount = 10;
const largePieces = 400;
/** Such a run has 25 MiB: many times what sockets hold. */
const largePieceChars = 65_536;
/**
 * A page of the log, its encoded form, and a share of the run's newest entries: 0.8 MiB are measured on a quiet machine, and 2.5 on a
 * busy one, where readers hold different pages.
 */
const stuckReaderBytesMax = 4 * 1_048_576;

// Readers begin and never read: their sockets fill up, their windows close and stay closed. Some are there from the start,
// others read a complete log. If the service buffered for them, it would hold a whole log for each. The run and a healthy
// reader must not be affected. When the stuck readers read at last, their results come from the log.
test("readers that never read cost neither time nor memory, and lose nothing", {
  timeout: stuckTimeoutMs,
}, async () => {
  const { provider, environment } = await openProvider();
  provider.respond(sayMuch, sayMuch);
  const cluster = await openCluster({ ...environment, ...resourceProbe });
  const member = await cluster.start();
  // The first run brings the process to the size that such a run needs.
  const warmUp = new LogReader((await startRun(member.client, "much")).runId);
  expect(await warmUp.follow(member.client)).toBe(status.OK);
  const { bytes: bytesBefore } = await probeResources(member);

  const { runId } = await startRun(member.client, "much");
  const openStuck = async (): Promise<StuckReader[]> =>
    await Promise.all(
      Array.from({ length: stuckReadersCount }, () => [
        openStuckSse(member.url, runId),
        openStuckGrpc(member.url, runId),
      ]).flat(),
    );
  const early = await openStuck();
  const healthy = new LogReader(runId);
  expect(await healthy.follow(member.client)).toBe(status.OK);
  expect(await getRun(member.client, runId)).toMatchObject({ state: Run_State.COMPLETED });
  const late = await openStuck();
  // Answered after the stuck readers have been served as much as they take.
  expect(await readLog(member.client, runId)).toHaveLength(healthy.results.length);
  const bytesMax = bytesBefore + (early.length + late.length) * stuckReaderBytesMax;
  await until("what the others held to be gone", async () => (await probeResources(member)).bytes < bytesMax);

  const sequences = healthy.results.map(({ sequence }) => Number(sequence));
  for (const reader of [...early.slice(0, 2), ...late.slice(0, 1)]) {
    expect(await reader.readOn()).toEqual(sequences);
  }
  await expectStored(cluster.databaseUrl, runId, healthy.results);
  await expectInvariants(cluster.databaseUrl);
});

/** How often the service looks whether the runs of its readers have ended. */
const endedCheckMs = 15_000;

test("a reader ahead of an active run waits for the results after its place", async () => {
  await using provider = await startFakeProvider();
  const going = Promise.withResolvers<void>();
  const { clock, pass } = createHeldClock(endedCheckMs);
  provider.respond(async (wire) => {
    wire.text("one");
    await going.promise;
    for (let piece = 0; piece < 5; piece++) {
      wire.reasoning("x".repeat(unmergedChars));
    }
    wire.done("stop");
  });
  const service = await startService(modelFlags(provider), { clock });
  const client = new GrpcClient(service.target);
  const { runId } = await startRun(client, "go");
  const ahead = readLog(client, runId, 4);
  const beyond = readLog(client, runId, 999).catch((error: unknown) => error);
  await until("both to wait", () => service.app.countReaders() === 2);
  const normal = new LogReader(runId);
  const following = normal.follow(client);
  await until("the first text", () => normal.results.length === 2);
  going.resolve();
  expect(await following).toBe(status.OK);
  expect(normal.results.length).toBeGreaterThan(7);
  expect(await ahead).toEqual(normal.results.slice(4));
  // It waits for results that the run, which has ended, will never have.
  pass();
  expect(await beyond).toMatchObject({ code: status.OUT_OF_RANGE });
});

test("a reader that has the terminal result is done, and one beyond it gets OFFSET_BEYOND_END", async () => {
  const service = await startService();
  const client = new GrpcClient(service.target);
  const { runId } = await startRun(client, "words=3 pace=0");
  const end = (await readLog(client, runId)).length;
  const url = `${service.url}/v1/runs/${runId}/results:tail`;

  expect(await readLog(client, runId, end)).toEqual([]);
  expect((await fetch(url, { headers: { ...credentialsOf(), "last-event-id": String(end) } })).status).toBe(204);

  await expect(readLog(client, runId, end + 1)).rejects.toMatchObject({ code: status.OUT_OF_RANGE });
  const refused = await fetch(url, { headers: { ...credentialsOf(), "last-event-id": String(end + 1) } });
  expect(refused.status).toBe(400);
  expect(await refused.json()).toMatchObject({ reason: "OFFSET_BEYOND_END" });
});

/** Longer than the limit for merged text. */
const unmergedChars = 5_000;

/** Reasoning fills the log without becoming part of the answer, which has to fit into one result. */
const sayMuch: Script = (wire) => {
  for (let piece = 0; piece < largePieces; piece++) {
    wire.reasoning("x".repeat(largePieceChars));
  }
  wire.text("that was much");
  wire.done("stop");
};
