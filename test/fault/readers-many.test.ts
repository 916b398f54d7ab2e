// Thousands of readers of one run: all get everything, those that stop reading cost little, and those that leave free
// everything.

import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import type { Script } from "../fakes/provider.ts";
import { until } from "../harness/wait.ts";
import { getRun, type Member, openCluster, openProvider, startRun } from "./cluster.ts";
import { metricsEnvironment, readFigures } from "./database/figures.ts";
import { expectInvariants } from "./invariants.ts";
import { startReaders } from "./reader-process.ts";
import {
  type ProcessResources,
  peakResidentBytes,
  probeResources,
  residentBytes,
  resourceProbe,
} from "./resource-probe.ts";

const readersOfEachKind = 1_000;
const stuckOfEachKind = 25;
const leaversOfEachKind = 200;
const pieces = 200;
/** Enough that readers who stop reading have more than the network buffers hold. */
const pieceChars = 500;
const paceMs = 100;

/** A fifth of this is in use (measured); the rest is current garbage, and memory that the allocator keeps. */
const grownBytesMax = 400 * 1_048_576;
const stuckReaderBytesMax = 2 * 1_048_576;
/** The allowed difference between two looks at the same process: caches, and compiled code. */
const driftBytesMax = 16 * 1_048_576;
const crowdTimeoutMs = 180_000;

// The model waits until all readers are there; then it writes a piece every 100 ms. Some readers stop reading at once. They
// are still there when the run is over, and then they leave all at once.
test("2,000 readers of a run get everything in order, and leave nothing behind", {
  timeout: crowdTimeoutMs,
}, async () => {
  const { provider, environment } = await openProvider();
  const cluster = await openCluster({ ...environment, ...metricsEnvironment, ...resourceProbe });
  const member = await cluster.start();
  const crowdOf = (runId: string, reading: number, stuck: number) =>
    startReaders({ url: member.url, runId, reading, stuck });

  // Before the first look everything has been used once, by a small readers.
  provider.respond(saySlowly(Promise.resolve(), 20));
  const warmUp = crowdOf((await startRun(member.client, "go")).runId, 20, 5);
  await warmUp.ended;
  await warmUp.leave();
  await expectNobody(member);
  const before = await probeResources(member);
  const residentBefore = residentBytes(member.pid);

  const allThere = Promise.withResolvers<void>();
  provider.respond(saySlowly(allThere.promise, pieces));
  const { runId } = await startRun(member.client, "go");
  const readers = crowdOf(runId, readersOfEachKind, stuckOfEachKind);
  await readers.begun;
  expect(await countReaders(member)).toEqual([
    readersOfEachKind + stuckOfEachKind,
    readersOfEachKind + stuckOfEachKind,
  ]);
  allThere.resolve();
  const report = await readers.ended;
  expect(report.wrong).toEqual([]);
  expect(report.ended).toBe(2 * readersOfEachKind);
  const { lastSequence } = await getRun(member.client, runId);
  expect(report.last).toBe(Number(lastSequence));
  // Results that wait for a write are merged: the busier the machine, the fewer results.
  expect(report.last).toBeGreaterThan(pieces / 40);

  expect(peakResidentBytes(member.pid) - residentBefore).toBeLessThan(grownBytesMax);
  const stuckBytesMax = 2 * stuckOfEachKind * stuckReaderBytesMax;
  await until(
    "what the others held to be gone",
    async () => (await probeResources(member)).bytes < before.bytes + stuckBytesMax,
  );

  // Others leave in the middle of a run.
  const never = Promise.withResolvers<void>();
  provider.respond(saySlowly(never.promise, 0));
  const { runId: unfinished } = await startRun(member.client, "go");
  const leaving = crowdOf(unfinished, leaversOfEachKind, 0);
  await leaving.begun;
  await Promise.all([leaving.leave(), readers.leave()]);
  await expectNobody(member);
  await member.client.call(RunService.method.cancelRun, { runId: unfinished });
  never.resolve();
  await expectBackTo(before, () => probeResources(member));
  await expectInvariants(cluster.databaseUrl);
});

/** Writes pieces at a pace, once `start` has resolved. */
function saySlowly(start: Promise<void>, count: number): Script {
  return async (wire) => {
    // A service that gets no answer for 30 s counts the provider as hung.
    wire.raw(": waiting\n\n");
    await start;
    for (let piece = 0; piece < count; piece++) {
      await delay(paceMs);
      wire.reasoning("x".repeat(pieceChars));
    }
    wire.text("done");
    wire.done("stop");
  };
}

/** Over gRPC and SSE. */
async function countReaders(member: Member): Promise<(number | undefined)[]> {
  const { value } = await readFigures(member);
  return ["grpc", "sse"].map((transport) => value(`runnel_readers{transport="${transport}"}`));
}

async function expectNobody(member: Member): Promise<void> {
  await until("no reader", async () => (await countReaders(member)).every((count) => count === 0));
}

/** Sockets close a moment after their readers are gone, and their memory is freed by the next collection. */
async function expectBackTo(before: ProcessResources, look: () => Promise<ProcessResources>): Promise<void> {
  let now = await look();
  const isBack = async (): Promise<boolean> => {
    now = await look();
    return now.descriptors <= before.descriptors + 2 && countTimers(now) <= countTimers(before) + 2;
  };
  await until("the process to hold no more than before", isBack).catch(() => {});
  expect(now.descriptors).toBeLessThanOrEqual(before.descriptors + 2);
  expect(countTimers(now)).toBeLessThanOrEqual(countTimers(before) + 2);
  expect(now.bytes - before.bytes).toBeLessThan(driftBytesMax);
}

function countTimers({ resources }: ProcessResources): number {
  return resources.Timeout ?? 0;
}
