// `server.processes`: worker processes that share the port. Each may die or be replaced under load, and so may their primary; every
// promise holds.

import { setTimeout as delay } from "node:timers/promises";
import { status } from "@grpc/grpc-js";
import { expect, test } from "vitest";
import { Run_State } from "#gen/runnel/v1/run_pb.js";
import { copyMsMax } from "../../src/cli/interrupt.ts";
import { runCommand } from "../cli/command.ts";
import { until } from "../harness/wait.ts";
import { type Cluster, getRun, linesOf, type Member, openCluster, startRun } from "./cluster.ts";
import { metricsEnvironment, readFigures } from "./database/figures.ts";
import { startLoad } from "./database/load.ts";
import { expectInvariants } from "./invariants.ts";
import { expectStored, LogReader } from "./log-reader.ts";

const processes = 3;
const runCount = 9;
const pauseMs = 50;

async function startWorkers(cluster: Cluster, environment: Readonly<Record<string, string>> = {}): Promise<Member> {
  const member = await cluster.start({
    RUNNEL_SERVER_PROCESSES: String(processes),
    ...metricsEnvironment,
    ...environment,
  });
  await until("all workers to serve", () => linesOf(member, "server.listening").length === processes);
  return member;
}

/** The pids of all workers that were ever started, oldest first. */
function workersOf(member: Member): number[] {
  return linesOf(member, "worker.started").map(({ pid }) => Number(pid));
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function startReaders(member: Member): Promise<LogReader[]> {
  const readers = await Promise.all(
    Array.from(
      { length: runCount },
      async () => new LogReader((await startRun(member.client, "words=120 pace=30")).runId),
    ),
  );
  return readers;
}

/** Reads on at the service that `find` returns until the run ends. */
async function readToTheEnd(reader: LogReader, find: () => Member): Promise<void> {
  while ((await reader.follow(find().client)) !== status.OK) {
    await delay(pauseMs);
  }
}

async function expectWhole(cluster: Cluster, member: Member, readers: readonly LogReader[]): Promise<void> {
  for (const { runId, results } of readers) {
    expect(await getRun(member.client, runId)).toMatchObject({ state: Run_State.COMPLETED });
    await expectStored(cluster.databaseUrl, runId, results);
  }
  await expectInvariants(cluster.databaseUrl);
}

test("a worker that is killed is replaced, and others continue its runs", async () => {
  const cluster = await openCluster();
  const member = await startWorkers(cluster);
  const readers = await startReaders(member);
  const reading = Promise.all(readers.map((reader) => readToTheEnd(reader, () => member)));
  await until("all readers to follow", () => readers.every(({ results }) => results.length >= 5));
  const [first = 0] = workersOf(member);
  process.kill(first, "SIGKILL");
  await until("another worker to serve", () => linesOf(member, "server.listening").length === processes + 1);
  await reading;
  await expectWhole(cluster, member, readers);
  expect(linesOf(member, "worker.ended")).toMatchObject([{ pid: first, signal: "SIGKILL", restartInMs: 0 }]);
  expect(await member.stop()).toBe(0);
  expect(workersOf(member).filter(isRunning)).toEqual([]);
});

test("workers that are replaced one by one under load lose nothing, and refuse nothing but streams with RESUME", async () => {
  const cluster = await openCluster();
  const member = await startWorkers(cluster);
  const load = await startLoad(member, { runs: runCount, message: "words=150 pace=60" });
  await load.flows();
  for (const [index, pid] of workersOf(member).entries()) {
    process.kill(pid, "SIGTERM");
    await until("another worker to serve", () => linesOf(member, "server.listening").length > processes + index);
    expect(isRunning(pid)).toBe(false);
  }
  await load.expectNothingLost(cluster.databaseUrl);
  expect([...load.codes].filter((code) => code !== status.UNAVAILABLE)).toEqual([]);
  expect(await member.stop()).toBe(0);
});

test("workers whose primary is killed hand on their runs and end", async () => {
  const cluster = await openCluster();
  const first = await startWorkers(cluster);
  let member = first;
  const readers = await startReaders(first);
  const reading = Promise.all(readers.map((reader) => readToTheEnd(reader, () => member)));
  await until("all readers to follow", () => readers.every(({ results }) => results.length >= 5));
  await first.kill();
  await until("the workers to end", () => workersOf(first).every((pid) => !isRunning(pid)));
  member = await startWorkers(cluster);
  await reading;
  await expectWhole(cluster, member, readers);
  // Handed on, and not taken over after the end of a lease.
  for (const { runId } of readers) {
    expect(await getRun(member.client, runId)).toMatchObject({ takeovers: 0 });
  }
});

test("the metrics of the primary are the sums of its workers", async () => {
  const cluster = await openCluster();
  const member = await startWorkers(cluster);
  const runs = await Promise.all(Array.from({ length: 6 }, () => startRun(member.client, "words=3 pace=0")));
  for (const { runId } of runs) {
    await until("the run to end", async () => (await getRun(member.client, runId)).state === Run_State.COMPLETED);
  }
  const figures = await readFigures(member);
  expect(figures.value('runnel_runs_finished_total{status="completed",reason="stop"}')).toBe(runs.length);
  expect(figures.text).toMatch(/^runnel_build_info\{.*\} 1$/m);
  expect(figures.value("runnel_listen_connected")).toBe(1);
});

test("a stop that takes longer than a person needs for a second Ctrl-C ends with 0", async () => {
  const cluster = await openCluster();
  // The notice before the drain is a fifth of it.
  const member = await startWorkers(cluster, { RUNNEL_SERVER_DRAIN_SECONDS: String((6 * copyMsMax) / 1_000) });
  expect(await member.stop()).toBe(0);
});

test("a service that cannot start says so once, and leaves no process", async () => {
  const cluster = await openCluster();
  const { url } = await cluster.start();
  const { code, stderr } = await runCommand(["serve", "--no-config", "--port", new URL(url).port], {
    environment: {
      RUNNEL_DATABASE_URL: cluster.databaseUrl,
      RUNNEL_DEFAULTS_MODEL: "demo",
      RUNNEL_SERVER_PROCESSES: "2",
    },
  });
  expect(code).toBe(1);
  expect(stderr.match(/is already in use/g)).toHaveLength(1);
});
