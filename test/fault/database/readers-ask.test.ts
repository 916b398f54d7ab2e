// How many statements readers cost while they follow a run.

import { expect, test } from "vitest";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { testDatabase } from "../../harness/database.ts";
import { until } from "../../harness/wait.ts";
import { type Member, startRun } from "../cluster.ts";
import { startReaders } from "../reader-process.ts";
import { metricsEnvironment, readFigures } from "./figures.ts";
import { startOn } from "./service-on.ts";

const readersOfEachKind = 400;
/** Longer than the test: it cancels the run. */
const message = "words=9000 pace=100";
/** After 15 s each reader would have polled. */
const measuredMs = 16_000;
/** Leases, queues and polls take some 25 statements a second. */
const calmPerSecond = 60;
const calmWithinMs = 80_000;
const askTimeoutMs = 240_000;

// Thousands of readers that start together would also poll together, and a pool of a few connections would refuse most of
// them. While a run writes results, readers do not need to poll.
test("readers of a run that writes results cost no statements", { timeout: askTimeoutMs }, async () => {
  const { member } = await startOn(await testDatabase(), metricsEnvironment);
  const { runId } = await startRun(member.client, message);
  const readers = startReaders({ url: member.url, runId, reading: readersOfEachKind, stuck: 0 });
  await readers.begun;
  await until("all readers to have begun", calm(member), calmWithinMs);
  const before = await countStatements(member);
  const startedMs = performance.now();
  await until("every reader to have polled, if it did", () => performance.now() - startedMs > measuredMs);
  const count = (await countStatements(member)) - before;
  const seconds = (performance.now() - startedMs) / 1_000;
  // Readers that each poll every 15 s would alone take 53 statements a second.
  expect(count / seconds).toBeLessThan(calmPerSecond);
  await member.client.call(RunService.method.cancelRun, { runId });
  const { ended, wrong } = await readers.ended;
  expect({ ended, wrong }).toEqual({ ended: 2 * readersOfEachKind, wrong: [] });
});

async function countStatements(member: Member): Promise<number> {
  return (await readFigures(member)).value("runnel_db_query_duration_seconds_count") ?? Number.NaN;
}

/** True once a second has passed with only the service's own statements. */
function calm(member: Member): () => Promise<boolean> {
  let atMs = performance.now();
  let count = 0;
  return async () => {
    const seconds = (performance.now() - atMs) / 1_000;
    if (seconds < 1) {
      return false;
    }
    const more = (await countStatements(member)) - count;
    atMs += seconds * 1_000;
    count += more;
    return more >= 0 && more / seconds < calmPerSecond;
  };
}
