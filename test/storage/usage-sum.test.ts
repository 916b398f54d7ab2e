// The sums of usage: each run counts once, in each of its periods, in any order of folds and purges.

import { sql } from "kysely";
import { expect, test } from "vitest";
import { finishRun } from "../../src/engine/storage/run.ts";
import {
  deleteUsageSums,
  foldEndedRuns,
  insertEndedRun,
  readUsage,
  timeOfBucket,
  type UsageQuery,
  type UsageSum,
  unnameUsage,
  usagePeriods,
} from "../../src/engine/storage/usage-sum.ts";
import type { Db } from "../../src/platform/database/database.ts";
import { addRun, connect, openStore } from "../runlog/store.ts";

const client = "shared/test";
const day = 86_400;

interface Ended {
  readonly agent?: string;
  readonly status?: "completed" | "failed" | "cancelled";
  readonly durationMs?: number;
  readonly firstTextMs?: number;
  readonly tokens?: number;
  readonly daysAgo?: number;
}

/** Ends a run as its owner does, at a time in the past. */
async function endRun(db: Db, ended: Ended = {}): Promise<string> {
  const { agent = "a", status = "completed", durationMs = 1_000, firstTextMs, tokens = 1, daysAgo = 0 } = ended;
  const { id } = await addRun(db, { client });
  const spent = { promptTokens: tokens, completionTokens: 0, costMicroUsd: 0 };
  await db.transaction().execute(async (trx) => {
    const rest = { sequence: 1, terminal: Buffer.alloc(0), logHash: undefined, failure: undefined };
    await finishRun(trx, { id, status, turn: 1, spent, ...rest });
    await sql`
      update run set agent_name = ${agent}, end_time = now() - ${daysAgo} * interval '1 day',
        start_time = now() - ${daysAgo} * interval '1 day' - ${durationMs} * interval '1 millisecond'
      where id = ${id}`.execute(trx);
    await insertEndedRun(trx, { runId: id, firstTextMs });
  });
  return id;
}

async function read(db: Db, query: Partial<UsageQuery> = {}): Promise<UsageSum[]> {
  const span = { from: new Date(Date.now() - 100 * day * 1_000), to: new Date(Date.now() + day * 1_000) };
  const any = { groupBy: undefined, agentName: undefined, model: undefined, seriesMax: 10, withTimes: true };
  return await readUsage(db, { client, seconds: day, ...span, ...any, ...query });
}

function runsOf(sums: readonly UsageSum[]): number {
  return sums.reduce((sum, { completed, failed, cancelled }) => sum + completed + failed + cancelled, 0);
}

test("64 ends at once, folded by two replicas at the same time, count 64 times in each kind of period", async () => {
  const { db, url } = await openStore({ poolSize: 8 });
  const other = connect(url).db;
  const statuses = ["completed", "failed", "cancelled"] as const;
  await Promise.all([
    ...Array.from({ length: 64 }, (_, index) => endRun(db, { status: statuses[index % 3] ?? "failed", tokens: 10 })),
    foldEndedRuns(db),
    foldEndedRuns(other),
  ]);
  await Promise.all([foldEndedRuns(db), foldEndedRuns(other), foldEndedRuns(db)]);
  for (const { seconds } of usagePeriods) {
    const sums = await read(db, { seconds });
    expect(runsOf(sums)).toBe(64);
    expect(sums.reduce((sum, { prompt_tokens }) => sum + prompt_tokens, 0)).toBe(640);
  }
  expect(await db.selectFrom("ended_run").selectAll().execute()).toEqual([]);
});

test("an end that does not commit does not count", async () => {
  const { db } = await openStore();
  const { id } = await addRun(db, { client });
  const end = db.transaction().execute(async (trx) => {
    await insertEndedRun(trx, { runId: id, firstTextMs: 1 });
    throw new Error("the replica dies");
  });
  await expect(end).rejects.toThrow("the replica dies");
  await foldEndedRuns(db);
  expect(await read(db)).toEqual([]);
});

test("a time is in the bucket whose middle it misses by at most 10 %", async () => {
  const { db } = await openStore();
  const times = [12, 95, 1_000, 2_500, 61_000, 3_600_000, 80_000_000];
  for (const durationMs of times) {
    await endRun(db, { durationMs, firstTextMs: durationMs });
  }
  await endRun(db, { durationMs: 0 });
  await foldEndedRuns(db);
  const [sum] = await read(db);
  const found = (sum?.durations ?? []).flatMap((runs, index) => (runs === 0 ? [] : [timeOfBucket(index + 1)]));
  expect(found).toHaveLength(times.length + 1);
  for (const [index, ms] of times.entries()) {
    expect(Math.abs((found[index + 1] ?? 0) / ms - 1)).toBeLessThan(0.1);
  }
  expect(sum?.first_texts.reduce((one, other) => one + other)).toBe(times.length);
});

test("the names with the most runs have series of their own, and the rest one together", async () => {
  const { db } = await openStore();
  for (const agent of ["x", "y", "y", "z", "z", "z", "w"]) {
    await endRun(db, { agent });
  }
  await foldEndedRuns(db);
  const sums = await read(db, { groupBy: "agent_name", seriesMax: 2 });
  const counts = Object.fromEntries(sums.map(({ name, completed }) => [name ?? "(rest)", completed]));
  expect(counts).toEqual({ y: 2, z: 3, "(rest)": 2 });
});

test("a client with ever new agents fills a period with 200 names, and its other runs count without names", async () => {
  const { db } = await openStore();
  const template = await endRun(db);
  await sql`
    with copied as (
      insert into run (id, client, session, driver, input, status, epoch, deadline, terminal, agent_name, start_time, end_time)
      select gen_random_uuid(), client, session, driver, input, status, epoch, deadline, terminal, 'agent ' || n, start_time, end_time
      from run, generate_series(1, 450) as n where id = ${template} returning id
    ) insert into ended_run (run_id) select id from copied`.execute(db);
  await foldEndedRuns(db);
  const { rows } = await sql<{ names: number; unnamed: number; runs: number }>`
    select count(*) filter (where agent_name <> '') as names, coalesce(sum(completed) filter (where agent_name = ''), 0)::int8 as unnamed,
      sum(completed)::int8 as runs from usage_sum where seconds = ${day}`.execute(db);
  expect(rows).toEqual([{ names: 200, unnamed: 251, runs: 451 }]);
});

test("a purge takes the name of the agent out of the sums, and no run", async () => {
  const { db } = await openStore();
  const purged = await endRun(db, { agent: "secret", tokens: 7 });
  await endRun(db, { agent: "shared", tokens: 5 });
  const both = await endRun(db, { agent: "shared", tokens: 3 });
  await foldEndedRuns(db);
  const unfolded = await endRun(db, { agent: "secret" });
  for (const id of [purged, both, unfolded]) {
    await db.transaction().execute(async (trx) => {
      await unnameUsage(trx, id);
      await trx.updateTable("run").set({ agent_name: null }).where("id", "=", id).execute();
    });
  }
  await foldEndedRuns(db);
  for (const { seconds } of usagePeriods) {
    const sums = await read(db, { seconds, groupBy: "agent_name" });
    const used = Map.groupBy(sums, ({ name }) => name);
    const total = (name: string, column: "completed" | "prompt_tokens"): number =>
      (used.get(name) ?? []).reduce((sum, row) => sum + row[column], 0);
    expect([...used.keys()].toSorted()).toEqual(["", "shared"]);
    expect([total("", "completed"), total("", "prompt_tokens")]).toEqual([3, 11]);
    expect([total("shared", "completed"), total("shared", "prompt_tokens")]).toEqual([1, 5]);
    expect((used.get("shared") ?? []).flatMap(({ durations }) => durations).reduce((one, other) => one + other)).toBe(
      1,
    );
  }
});

test("each kind of period is kept for its time", async () => {
  const { db } = await openStore();
  for (const daysAgo of [0, 2, 10, 60, 100]) {
    await endRun(db, { daysAgo });
  }
  await foldEndedRuns(db);
  await deleteUsageSums(db);
  const counts = await Promise.all(usagePeriods.map(async ({ seconds }) => runsOf(await read(db, { seconds }))));
  expect(counts).toEqual([1, 2, 3, 4]);
});
