// kill -9 of the only process while it writes text. Results that a reader has seen stay unchanged, and a new process on the same
// database continues the same run. `kill-phases` has the other phases.

import { status } from "@grpc/grpc-js";
import { expect, test } from "vitest";
import { Run_State } from "#gen/runnel/v1/run_pb.js";
import { until } from "../harness/wait.ts";
import { getRun, openCluster, startRun } from "./cluster.ts";
import { expectInvariants } from "./invariants.ts";
import { expectStored, LogReader, SseLogReader, textOf } from "./log-reader.ts";

// The process dies while the model streams: some words are durable, some were only in memory, and the turn has no checkpoint.
// The next process has to declare the turn void, and repeat it after the existing results.
test("a run that is killed in the middle of its text continues in the next process", async () => {
  const cluster = await openCluster();
  const first = await cluster.start();
  const { runId } = await startRun(first.client, "words=200 pace=10");
  const reader = new LogReader(runId);
  const sseReader = new SseLogReader(runId);
  const following = reader.follow(first.client);
  const sseFollowing = sseReader.follow(first.url);
  await until("20 results at both readers", () => reader.results.length >= 20 && sseReader.events.length >= 20);
  await first.kill();
  expect(await following).toBe(status.UNAVAILABLE);
  expect(await sseFollowing).toBe("broken");
  expect(reader.count("runCompleted")).toBe(0);
  const seen = reader.results.length;

  const second = await cluster.start();
  expect(await reader.follow(second.client)).toBe(status.OK);
  expect(await sseReader.follow(second.url)).toBe("finished");

  expect(reader.count("turnRestarted")).toBe(1);
  expect(reader.results.findIndex(({ payload }) => payload.case === "turnRestarted")).toBeGreaterThanOrEqual(seen);
  expect(sseReader.events.length).toBe(reader.results.length);
  const run = await getRun(second.client, runId);
  expect(run).toMatchObject({
    runId,
    state: Run_State.COMPLETED,
    takeovers: 1,
    lastSequence: BigInt(reader.results.length),
  });
  expect(textOf(reader.results)).toBe(run.output);
  expect(run.output.match(/\S+/g)).toHaveLength(200);
  await expectStored(cluster.databaseUrl, runId, reader.results);
  await expectInvariants(cluster.databaseUrl);
});
