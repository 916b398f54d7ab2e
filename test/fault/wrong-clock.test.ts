// Processes on one database whose machines disagree about the time, by minutes and more. They follow the database's clock:
// times, order, accepted signatures and deletions are the same at each of them.

import { expect, test } from "vitest";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { defaultClientId, keyOf } from "../harness/credentials.ts";
import { query } from "../harness/database.ts";
import { environmentOfWrongClock } from "../harness/process.ts";
import { signV2 } from "../harness/signing.ts";
import { until } from "../harness/wait.ts";
import { type Cluster, linesOf, type Member, openCluster, startRun } from "./cluster.ts";
import { expectInvariants } from "./invariants.ts";
import { expectStored, LogReader, readLog } from "./log-reader.ts";

const aheadMinutes = 5;
const behindMinutes = 10;

async function startAll(cluster: Cluster): Promise<[right: Member, ahead: Member, behind: Member]> {
  return await Promise.all([
    cluster.start(),
    cluster.start(environmentOfWrongClock(aheadMinutes)),
    cluster.start(environmentOfWrongClock(-behindMinutes)),
  ]);
}

// The three start a run each, the one with the clock ahead first and the one with the clock behind last. By their own clocks
// the list would be in reverse order, and the logs would be dated before or after they were read.
test("runs are dated and listed in the order in which they were made, by any process", async () => {
  const cluster = await openCluster();
  const [right, ahead, behind] = await startAll(cluster);
  const made: string[] = [];
  for (const member of [ahead, right, behind]) {
    const fromMs = Date.now();
    const { runId } = await startRun(member.client, "words=20 pace=20");
    const reader = new LogReader(runId);
    await reader.follow(right.client);
    const times = reader.results.map(({ createTime }) => Number(createTime?.seconds ?? 0) * 1_000);
    expect(Math.min(...times)).toBeGreaterThan(fromMs - 10_000);
    expect(Math.max(...times)).toBeLessThan(Date.now() + 10_000);
    await expectStored(cluster.databaseUrl, runId, reader.results);
    made.unshift(runId);
  }
  for (const member of [right, ahead, behind]) {
    const { runs } = await member.client.call(RunService.method.listRuns, {});
    expect(runs.map(({ runId }) => runId)).toEqual(made);
  }
  await expectInvariants(cluster.databaseUrl);
});

test("a process with a wrong clock reports by how much, and one with a right clock reports nothing", async () => {
  const [right, ahead, behind] = await startAll(await openCluster());
  const minutesOf = (member: Member) =>
    linesOf(member, "clock.corrected").map(({ aheadMs }) => Math.round(Number(aheadMs) / 60_000));
  expect([right, ahead, behind].map(minutesOf)).toEqual([[], [aheadMinutes], [-behindMinutes]]);
});

// A nonce is kept as long as any process may consider its signature fresh. If each process followed its own clock, a
// signature would be fresh again at another process after its nonce is forgotten.
test("a signature is fresh at all processes or at none, and valid once", async () => {
  const members = await startAll(await openCluster());
  for (const first of members) {
    const headers = sign(0);
    expect(await send(first, headers)).toMatchObject({ status: 200 });
    for (const member of members) {
      expect(await send(member, headers)).toMatchObject({ status: 401, message: "replayed request" });
    }
  }
  for (const minutes of [aheadMinutes, -behindMinutes]) {
    for (const member of members) {
      expect(await send(member, sign(minutes))).toMatchObject({ status: 401, message: "timestamp too old" });
    }
  }
});

/** Older than the retention of logs. */
const monthMinutes = 30 * 24 * 60;

// Partitions of the log are dropped by age. The month has not passed: only the clock of the new process says so.
test("a process with a clock a month ahead drops no log", async () => {
  const cluster = await openCluster();
  const right = await cluster.start();
  const { runId } = await startRun(right.client, "words=20 pace=1");
  const reader = new LogReader(runId);
  await reader.follow(right.client);
  const [forgotten] = await query<{ id: string }>(
    cluster.databaseUrl,
    `insert into session (id, client, name, agent, create_time, delete_time)
      values (gen_random_uuid(), 'c', 'forgotten', '', now() - interval '9 days', now() - interval '8 days') returning id`,
  );
  expect(await right.stop()).toBe(0);

  const late = await cluster.start(environmentOfWrongClock(monthMinutes));
  await until("its whole first pass, in which rows that are old come last", async () => {
    const rows = await query(cluster.databaseUrl, "select 1 from session where id = $1", [forgotten?.id]);
    return rows.length === 0;
  });
  expect(linesOf(late, "partitions.dropped")).toEqual([]);
  expect(await readLog(late.client, runId)).toEqual(reader.results);
  await expectInvariants(cluster.databaseUrl);
});

const path = `/${RunService.typeName}/${RunService.method.listRuns.name}`;

/** A call dated so many minutes from now. */
function sign(minutes: number): Record<string, string> {
  const timestamp = Math.floor(Date.now() / 1_000) + minutes * 60;
  return signV2({ secret: keyOf(), clientId: defaultClientId, method: "POST", path, body: "{}", timestamp });
}

async function send({ url }: Member, signature: Readonly<Record<string, string>>): Promise<Record<string, unknown>> {
  const headers = { ...signature, "content-type": "application/json" };
  const response = await fetch(`${url}${path}`, { method: "POST", headers, body: "{}" });
  const { message, details } = (await response.json()) as Record<string, unknown>;
  return { status: response.status, message, details };
}
