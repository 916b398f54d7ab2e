// kill -9 of the only process while messages wait in a session: the next process continues the run, and then begins each of them.

import { status } from "@grpc/grpc-js";
import { expect, test } from "vitest";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { query } from "../harness/database.ts";
import { until } from "../harness/wait.ts";
import { getRun, openCluster, startRun } from "./cluster.ts";
import { expectInvariants } from "./invariants.ts";
import { expectStored, LogReader } from "./log-reader.ts";

test("messages that wait when their process is killed begin in order in the next process", async () => {
  const cluster = await openCluster();
  const first = await cluster.start();
  const { runId, sessionId } = await startRun(first.client, "words=100 pace=20");
  const reader = new LogReader(runId);
  const following = reader.follow(first.client);
  const waiting: string[] = [];
  for (const message of ["words=3 pace=0", "words=4 pace=0"]) {
    const request = { sessionId, message, queueIfBusy: true };
    waiting.push((await first.client.call(SessionService.method.sendMessage, request)).runId);
  }
  await until("some text", () => reader.results.length >= 10);
  await first.kill();
  expect(await following).toBe(status.UNAVAILABLE);

  const second = await cluster.startHere();
  expect(await reader.follow(second.client)).toBe(status.OK);
  for (const each of waiting) {
    const later = new LogReader(each);
    expect(await later.follow(second.client)).toBe(status.OK);
    await expectStored(cluster.databaseUrl, each, later.results);
    expect((await getRun(second.client, each)).output.match(/\S+/g)).toHaveLength(3 + waiting.indexOf(each));
  }
  const said = "select run_id from transcript group by run_id order by min(position)";
  expect(await query(cluster.databaseUrl, said)).toEqual([runId, ...waiting].map((run_id) => ({ run_id })));
  await expectInvariants(cluster.databaseUrl);
});
