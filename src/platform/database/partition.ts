// Daily partitions of the log. A run's id carries its creation time, so a day is a range of ids.

import { sql } from "kysely";
import { dayMs } from "../base/clock.ts";
import { lowestUuid } from "../base/ids.ts";
import type { Db } from "./database.ts";

/** Dropping a partition locks its parent table: give up soon and retry in the next pass. */
const dropLockTimeoutMs = 500;

/** Creates the missing partitions of today and of the following days. */
export async function createPartitions(db: Db, args: { nowMs: number; daysAhead: number }): Promise<void> {
  const existing = new Set(await listPartitions(db));
  const today = Math.floor(args.nowMs / dayMs);
  for (let day = today; day <= today + args.daysAhead; day++) {
    if (!existing.has(partitionName(day))) {
      await createPartition(db, day);
    }
  }
}

/** Drops the partitions of days that ended before the given time. Returns their names. */
export async function dropPartitionsBefore(db: Db, beforeMs: number): Promise<string[]> {
  const dropped: string[] = [];
  for (const name of await listPartitions(db)) {
    const day = partitionDay(name);
    if (day === undefined || (day + 1) * dayMs > beforeMs) {
      continue;
    }
    await db.transaction().execute(async (trx) => {
      await sql`select set_config('lock_timeout', ${`${dropLockTimeoutMs}ms`}, true)`.execute(trx);
      await sql`drop table if exists ${sql.id(name)}`.execute(trx);
    });
    dropped.push(name);
  }
  return dropped;
}

/**
 * Deletes at most `limit` rows of the default partition whose runs were created before the given time. Returns their number.
 * Rows that missed their day's partition must not outlive it.
 */
export async function deleteUnpartitionedBefore(db: Db, args: { beforeMs: number; limit: number }): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from run_result_default where (run_id, sequence) in (
      select run_id, sequence from run_result_default where run_id < ${lowestUuid(Math.max(0, args.beforeMs))}
      limit ${args.limit})`.execute(db);
  return Number(numAffectedRows);
}

/** More rows of the default partition are not counted. */
const unpartitionedMax = 1_000;

/** Returns the number of rows in the default partition, at most 1,000. Any row means that a maintenance pass was missed. */
export async function countUnpartitionedResults(db: Db): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from (select from run_result_default limit ${unpartitionedMax}) as first`.execute(db);
  return rows[0]?.count ?? 0;
}

async function createPartition(db: Db, day: number): Promise<void> {
  await sql`create table if not exists ${sql.id(partitionName(day))} partition of run_result
    for values from (${sql.lit(lowestUuid(day * dayMs))}) to (${sql.lit(lowestUuid((day + 1) * dayMs))})`.execute(db);
}

async function listPartitions(db: Db): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select child.relname as name from pg_inherits
    join pg_class child on child.oid = inhrelid
    where inhparent = 'run_result'::regclass`.execute(db);
  return rows.map((row) => row.name);
}

function partitionName(day: number): string {
  return `run_result_${new Date(day * dayMs).toISOString().slice(0, 10).replaceAll("-", "")}`;
}

function partitionDay(name: string): number | undefined {
  const digits = /^run_result_(\d{4})(\d{2})(\d{2})$/.exec(name);
  return digits === null ? undefined : Date.parse(`${digits[1]}-${digits[2]}-${digits[3]}`) / dayMs;
}
