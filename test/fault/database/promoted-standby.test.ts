// The database fails over to a standby that has not received the newest commits. What it has lost is marked in the log, and no
// run continues as if nothing were missing.

import { expect, test } from "vitest";
import { Run_State } from "#gen/runnel/v1/run_pb.js";
import { until } from "../../harness/wait.ts";
import { getRun, linesOf, type Member, startRun } from "../cluster.ts";
import { expectInvariants } from "../invariants.ts";
import { LogReader, readLog } from "../log-reader.ts";
import { expectSameWhereKept, readToTheEnd } from "./lost-results.ts";
import { openOwnPostgres } from "./own-postgres.ts";
import { startOn } from "./service-on.ts";

const runCount = 12;
const failoverTimeoutMs = 300_000;
/** Until a run counts as a stray: 15 s after its start, and a pass of the dispatcher. */
const strayMsMax = 180_000;

test("acknowledged results that a promoted standby lacks are marked, reported, and followed by a restart", {
  timeout: failoverTimeoutMs,
}, async () => {
  const postgres = await openOwnPostgres();
  const { member } = await startOn(postgres.url);
  const readers = await startReaders(member, "words=600 pace=30");
  // These end between the copy and the failover: the standby has them as running.
  const ending = await startReaders(member, "words=150 pace=30");
  const reading = Promise.all(readers.map((reader) => readToTheEnd(reader, member)));
  const readingEnds = Promise.all(ending.map((reader) => readToTheEnd(reader, member)));
  await until("all readers to follow", () => [...readers, ...ending].every(({ results }) => results.length >= 5));

  await postgres.copyData();
  const before = readers.map(({ results }) => results.length);
  await readingEnds;
  await until("results after the copy", () =>
    readers.every(({ results }, index) => results.length > (before[index] ?? 0) + 5),
  );
  await postgres.promoteCopy();

  await reading;
  for (const { runId } of ending) {
    await until(
      "a run to fail",
      async () => (await getRun(member.client, runId)).state === Run_State.FAILED,
      strayMsMax,
    );
  }
  await expectInvariants(postgres.url);
  let lost = 0;
  for (const reader of [...readers, ...ending]) {
    const stored = await readLog(member.client, reader.runId);
    const marks = stored.filter(({ payload }) => payload.case === "resultLost");
    lost += marks.length;
    expect(marks.length).toBeGreaterThan(0);
    expectSameWhereKept(reader.results, stored);
    const after = stored[Number(marks.at(-1)?.sequence)];
    expect(["turnRestarted", "runFailed"]).toContain(after?.payload.case);
  }
  for (const { runId } of readers) {
    expect(await getRun(member.client, runId)).toMatchObject({ state: Run_State.COMPLETED });
  }
  for (const { runId } of ending) {
    const end = (await readLog(member.client, runId)).at(-1)?.payload;
    expect(end).toMatchObject({ case: "runFailed", value: { code: "host.results_lost", retryable: false } });
  }
  const reported = linesOf(member, "run.results_lost");
  expect(new Set(reported.map(({ runId }) => runId))).toEqual(
    new Set([...readers, ...ending].map(({ runId }) => runId)),
  );
  expect(reported.reduce((sum, line) => sum + Number(line.acknowledged) - Number(line.found), 0)).toBe(lost);
  expect(await member.stop()).toBe(0);
});

async function startReaders(member: Member, message: string): Promise<LogReader[]> {
  return await Promise.all(
    Array.from({ length: runCount }, async () => new LogReader((await startRun(member.client, message)).runId)),
  );
}
