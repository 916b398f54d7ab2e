// More concurrent callers than connections to the database.

import { type ServiceError, status } from "@grpc/grpc-js";
import { expect, test } from "vitest";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { query, testDatabase } from "../../harness/database.ts";
import type { GrpcClient } from "../../harness/grpc.ts";
import { until } from "../../harness/wait.ts";
import { startRun } from "../cluster.ts";
import { expectInvariants } from "../invariants.ts";
import { LogReader, readLog } from "../log-reader.ts";
import { watchCommits } from "./commit-watch.ts";
import { startOn } from "./service-on.ts";

const callers = 200;
const readers = 50;

// Readers hold no connection while they wait, so 50 of them leave the pool of two to the callers. The callers queue for it:
// each is served or refused for a retry, and none is forgotten.
test("200 concurrent calls over a pool of two are each served or refused for a retry", async () => {
  const databaseUrl = await testDatabase();
  const commits = watchCommits(databaseUrl);
  const { member, probes } = await startOn(databaseUrl, { RUNNEL_DATABASE_POOL_SIZE: "2" });
  const { runId } = await startRun(member.client, "words=400 pace=20");
  const following = Array.from({ length: readers }, () => new LogReader(runId));
  const endings = following.map((reader) => readToTheEnd(reader, member.client));
  await until("readers to follow", () => following.every(({ results }) => results.length > 3));

  const calls = await Promise.allSettled(
    Array.from({ length: callers }, (_, index) => startOne(member.client, `session-${index}`)),
  );
  const refused = calls.filter((call) => call.status === "rejected").map(({ reason }) => (reason as ServiceError).code);
  const allowed: status[] = [status.RESOURCE_EXHAUSTED, status.UNAVAILABLE];
  expect(refused.filter((code) => !allowed.includes(code))).toEqual([]);
  const promised = calls.flatMap((call) => (call.status === "fulfilled" ? [call.value] : []));
  expect(promised.length).toBeGreaterThan(0);
  const rows = await query<{ id: string }>(databaseUrl, "select id from run where id = any($1)", [promised]);
  expect(rows).toHaveLength(promised.length);

  expect(await Promise.all(endings)).toEqual(endings.map(() => status.OK));
  expect(following.flatMap(({ breaks }) => breaks).filter((reason) => reason !== "RESUME")).toEqual([]);
  for (const id of promised) {
    expect((await readLog(member.client, id)).at(-1)?.payload.case).toBe("runCompleted");
  }
  // No call is left waiting.
  await member.client.call(RunService.method.getRun, { runId });
  // Our own load must not make the replica unready: other replicas would be no better.
  expect(commits.unfounded(probes.outages)).toEqual([]);
  expect(probes.livenessMaxMs).toBeLessThan(10_000);
  await expectInvariants(databaseUrl);
});

/** A reader that needs the log queues for the pool as well, and may get UNAVAILABLE. */
async function readToTheEnd(reader: LogReader, client: GrpcClient): Promise<status> {
  for (;;) {
    const code = await reader.follow(client);
    if (code !== status.UNAVAILABLE) {
      return code;
    }
  }
}

async function startOne(client: Parameters<typeof startRun>[0], sessionId: string): Promise<string> {
  await client.call(SessionService.method.createSession, { sessionId, agent: { name: "pool" } });
  const { runId } = await client.call(SessionService.method.sendMessage, { sessionId, message: "words=3 pace=0" });
  return runId;
}
