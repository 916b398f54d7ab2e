// Two processes on one database: one of them is killed or asked to stop, and the other continues its runs.

import { status } from "@grpc/grpc-js";
import { expect, test } from "vitest";
import { Run_State } from "#gen/runnel/v1/run_pb.js";
import { until } from "../harness/wait.ts";
import { getRun, openCluster, startOwnRun } from "./cluster.ts";
import { expectInvariants } from "./invariants.ts";
import { expectStored, LogReader } from "./log-reader.ts";

/** The promise: a run whose replica dies continues within this time. */
const takeoverMaxMs = 15_000;

// The owner of several runs dies at once. Their readers are at the other process: before that they follow the runs live, and
// afterwards they notice only `turn.restarted`.
test("the runs of a killed process continue in the other one within 15 s", async () => {
  const cluster = await openCluster();
  const [owner, survivor] = await Promise.all([cluster.start(), cluster.start()]);
  const runs = await Promise.all(Array.from({ length: 5 }, () => startOwnRun(cluster, owner, "words=150 pace=20")));
  const readers = runs.map(({ runId }) => new LogReader(runId));
  const endings = readers.map((reader) => reader.follow(survivor.client));
  await until("every reader to follow live", () => readers.every((reader) => reader.results.length >= 10));
  expect(readers.every((reader) => reader.count("runCompleted") === 0)).toBe(true);

  const killedAtMs = performance.now();
  await owner.kill();
  await until(
    "every run to go on",
    () => readers.every((reader) => reader.count("turnRestarted") === 1),
    takeoverMaxMs,
  );
  expect(performance.now() - killedAtMs).toBeLessThan(takeoverMaxMs);

  expect(await Promise.all(endings)).toEqual(readers.map(() => status.OK));
  for (const reader of readers) {
    expect(await getRun(survivor.client, reader.runId)).toMatchObject({ state: Run_State.COMPLETED, takeovers: 1 });
    await expectStored(cluster.databaseUrl, reader.runId, reader.results);
  }
  await expectInvariants(cluster.databaseUrl);
});

// A deployment: the owner is asked to stop while its runs are far from done. It has to hand them on by itself, because with
// this lease no process would take them within the test. Its readers get RESUME and come back elsewhere.
test("a process that is asked to stop hands its runs on at once and ends with code 0", async () => {
  const leaseMs = 60_000;
  const cluster = await openCluster({ RUNNEL_RUNS_LEASE_MS: String(leaseMs) });
  const [leaving, staying] = await Promise.all([cluster.start(), cluster.start()]);
  const runs = await Promise.all(Array.from({ length: 3 }, () => startOwnRun(cluster, leaving, "words=150 pace=20")));
  const readers = runs.map(({ runId }) => new LogReader(runId));
  const resumingReaders = runs.map(({ runId }) => new LogReader(runId));
  const endings = readers.map((reader) => reader.follow(staying.client));
  const endingsOfLeaving = resumingReaders.map((reader) => reader.follow(leaving.client));
  const all = [...readers, ...resumingReaders];
  await until("every reader to follow", () => all.every((reader) => reader.results.length >= 10));

  const stoppedAtMs = performance.now();
  const exiting = leaving.stop();
  await until("every run to go on", () => readers.every((reader) => reader.count("turnRestarted") === 1));
  expect(performance.now() - stoppedAtMs).toBeLessThan(leaseMs / 2);
  expect(await exiting).toBe(0);

  expect(await Promise.all(endingsOfLeaving)).toEqual(runs.map(() => status.UNAVAILABLE));
  expect(await Promise.all(resumingReaders.map((reader) => reader.follow(staying.client)))).toEqual(
    runs.map(() => status.OK),
  );
  expect(await Promise.all(endings)).toEqual(runs.map(() => status.OK));
  for (const reader of all) {
    expect(await getRun(staying.client, reader.runId)).toMatchObject({ state: Run_State.COMPLETED, takeovers: 0 });
    await expectStored(cluster.databaseUrl, reader.runId, reader.results);
  }
  await expectInvariants(cluster.databaseUrl);
});
