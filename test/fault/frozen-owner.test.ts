// Two processes on one database: the owner of a run is frozen, and the other continues the run.

import { status } from "@grpc/grpc-js";
import { expect, test } from "vitest";
import { Run_State } from "#gen/runnel/v1/run_pb.js";
import { query } from "../harness/database.ts";
import { until } from "../harness/wait.ts";
import { getRun, linesOf, openCluster, replicaIdsOf, startOwnRun } from "./cluster.ts";
import { expectInvariants } from "./invariants.ts";
import { expectStored, LogReader } from "./log-reader.ts";

/** Postgres takes 10 s to end a transaction that the freeze has left open, and then the lease has to end. */
const frozenTimeoutMs = 120_000;

// The owner is frozen with results in memory and a write perhaps half sent; the other takes over. Then the owner continues
// and still believes that it owns the run. Its next write has to fail, and it has to get a new lease.
test("a process that was frozen during a takeover writes nothing more and continues with a new lease", {
  timeout: frozenTimeoutMs,
}, async () => {
  const cluster = await openCluster();
  const [zombie, successor] = await Promise.all([cluster.start(), cluster.start()]);
  const { runId } = await startOwnRun(cluster, zombie, "words=150 pace=20");
  const reader = new LogReader(runId);
  const ending = reader.follow(successor.client);
  const readerOfZombie = new LogReader(runId);
  const endingOfZombie = readerOfZombie.follow(zombie.client);
  await until("both readers to follow", () => reader.results.length >= 10 && readerOfZombie.results.length >= 10);
  zombie.signal("SIGSTOP");
  await until("the other to take over", () => reader.count("turnRestarted") === 1, 40_000);
  const writtenByZombie = await countResults(cluster.databaseUrl, runId, 1);
  zombie.signal("SIGCONT");
  await until("the zombie to notice", () => linesOf(zombie, "lease.lost").length === 1);
  await until("the zombie to come back", () => replicaIdsOf(zombie).length === 2);

  const { runId: later } = await startOwnRun(cluster, zombie, "words=20 pace=20");
  const readerOfLater = new LogReader(later);
  expect(await readerOfLater.follow(zombie.client)).toBe(status.OK);
  expect(await getRun(zombie.client, later)).toMatchObject({ state: Run_State.COMPLETED, takeovers: 0 });

  expect(await ending).toBe(status.OK);
  expect(await endingOfZombie).toBe(status.OK);
  expect(await countResults(cluster.databaseUrl, runId, 1)).toBe(writtenByZombie);
  expect(await getRun(zombie.client, runId)).toMatchObject({ state: Run_State.COMPLETED, takeovers: 1 });
  await expectStored(cluster.databaseUrl, runId, reader.results);
  await expectStored(cluster.databaseUrl, runId, readerOfZombie.results);
  await expectStored(cluster.databaseUrl, later, readerOfLater.results);
  await expectInvariants(cluster.databaseUrl);
});

async function countResults(databaseUrl: string, runId: string, epoch: number): Promise<number> {
  const rows = await query(databaseUrl, "select 1 from run_result where run_id = $1 and epoch = $2", [runId, epoch]);
  return rows.length;
}
