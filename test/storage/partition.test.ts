// Partitions of the log by day.

import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { lowestUuid, newUuid } from "../../src/platform/base/ids.ts";
import type { Db } from "../../src/platform/database/database.ts";
import {
  countUnpartitionedResults,
  createPartitions,
  dropPartitionsBefore,
} from "../../src/platform/database/partition.ts";
import { connect, openStore, plant } from "../runlog/store.ts";

const dayMs = 86_400_000;
/** 2026-03-01, noon. */
const nowMs = Date.UTC(2026, 2, 1, 12);

async function partitionOf(db: Db, runId: string): Promise<string | undefined> {
  const { rows } = await sql<{ name: string }>`
    select tableoid::regclass::text as name from run_result where run_id = ${runId}`.execute(db);
  return rows[0]?.name;
}

async function explain(db: Db, text: string): Promise<string> {
  const { rows } = await sql<{
    "QUERY PLAN": string;
  }>`explain (analyze, costs off, timing off) ${sql.raw(text)}`.execute(db);
  return rows.map((row) => row["QUERY PLAN"]).join("\n");
}

test("results are in the partition of the day on which their run was created, to the millisecond", async () => {
  const { db } = await openStore();
  await createPartitions(db, { nowMs, daysAhead: 1 });
  await createPartitions(db, { nowMs, daysAhead: 2 });
  const midnight = Date.UTC(2026, 2, 2);
  for (const [ms, name] of [
    [midnight - 1, "run_result_20260301"],
    [midnight, "run_result_20260302"],
    [midnight + dayMs, "run_result_20260303"],
    [midnight + 2 * dayMs, "run_result_default"],
  ] as const) {
    const id = newUuid(ms);
    await plant(db, id, 1, [1]);
    expect(await partitionOf(db, id)).toBe(name);
  }
  expect(await countUnpartitionedResults(db)).toBe(1);
});

test("only partitions of days that ended before the time are dropped, and the default partition keeps its rows", async () => {
  const { db } = await openStore();
  await createPartitions(db, { nowMs, daysAhead: 3 });
  const missed = newUuid(nowMs - 9 * dayMs);
  await plant(db, missed, 1, [1]);
  const dropped = await dropPartitionsBefore(db, Date.UTC(2026, 2, 3) + 1);
  expect(dropped.toSorted()).toEqual(["run_result_20260301", "run_result_20260302"]);
  expect(await dropPartitionsBefore(db, Date.UTC(2026, 2, 3) + 1)).toEqual([]);
  expect(await partitionOf(db, missed)).toBe("run_result_default");
});

test("partitions that wait behind a backup hold up no other statement for long", async () => {
  const { url, db } = await openStore();
  // A backup locks all tables like this until it ends.
  const backup = await connect(url).connections.connect("backup");
  onTestFinished(() => backup.end());
  await backup.query("begin; lock table run_result_default in access share mode");
  const startedMs = performance.now();
  await expect(createPartitions(db, { nowMs, daysAhead: 0 })).rejects.toMatchObject({ code: "55P03" });
  expect(performance.now() - startedMs).toBeLessThan(3_000);
  await backup.query("commit");
  await createPartitions(db, { nowMs, daysAhead: 0 });
});

test("reading one run, or many with the lateral statement, touches only their partitions", async () => {
  const { db } = await openStore();
  await createPartitions(db, { nowMs, daysAhead: 5 });
  const [first, second] = [newUuid(nowMs), newUuid(nowMs + dayMs)];
  for (const id of [first, second]) {
    await plant(db, id, 1, [1, 2, 3]);
  }
  const one = await explain(db, `select sequence from run_result where run_id = '${first}' and sequence > 1 limit 5`);
  expect(one).toContain("run_result_20260301");
  expect(one).not.toMatch(/run_result_(2026030[2-6]|default)/);
  const many = await explain(
    db,
    `select watched.run_id, result.sequence
     from unnest(array['${first}', '${second}']::uuid[], array[0, 0]::int8[]) with ordinality as watched (run_id, after, place)
     cross join lateral (
       select sequence, payload from run_result
       where run_result.run_id = watched.run_id and sequence > watched.after order by sequence limit 500
     ) as result order by watched.place, result.sequence`,
  );
  // Pruning happens during execution: the scans of other days are planned and never executed.
  const scans = many.split("\n").filter((line) => !line.includes("never executed"));
  const days = new Set(scans.flatMap((line) => / on (run_result_(?:\d+|default))/.exec(line)?.[1] ?? []));
  expect(days, many).toEqual(new Set(["run_result_20260301", "run_result_20260302"]));
});

test("the bounds of days are ids that no run has", () => {
  expect(lowestUuid(Date.UTC(2026, 2, 2)) > newUuid(Date.UTC(2026, 2, 2) - 1)).toBe(true);
  expect(lowestUuid(Date.UTC(2026, 2, 2)) < newUuid(Date.UTC(2026, 2, 2))).toBe(true);
});
