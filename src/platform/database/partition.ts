// Daily partitions of the log. A run's id carries its creation time, so a day is a range of ids.

import { type RawBuilder, sql } from "kysely";
import { dayMs } from "../base/clock.ts";
import { lowestUuid } from "../base/ids.ts";
import type { Db } from "./database.ts";

/**
 * Creating a partition locks the default partition, and dropping one locks the parent table. All later readers and writers wait behind
 * the lock, and a backup holds it up for hours: give up soon and retry in the next pass.
 */
const lockTimeoutMs = 500;

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
    await changePartitions(db, sql`drop table if exists ${sql.id(name)}`);
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
      limit ${sql.lit(args.limit)})`.execute(db);
  return Number(numAffectedRows);
}

/** More rows of the default partition are not counted. */
const unpartitionedMax = 1_000;

/** Returns the number of rows in the default partition, at most 1,000. Any row means that a maintenance pass was missed. */
export async function countUnpartitionedResults(db: Db): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from (select from run_result_default limit ${sql.lit(unpartitionedMax)}) as first`.execute(
    db,
  );
  return rows[0]?.count ?? 0;
}

async function createPartition(db: Db, day: number): Promise<void> {
  const name = sql.id(partitionName(day));
  const [from, to] = [day, day + 1].map((each) => sql.lit(lowestUuid(each * dayMs)));
  await changePartitions(
    db,
    sql`create table if not exists ${name} partition of run_result for values from (${from}) to (${to})`,
  );
}

async function changePartitions(db: Db, change: RawBuilder<unknown>): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await sql`select set_config('lock_timeout', ${`${lockTimeoutMs}ms`}, true)`.execute(trx);
    await change.execute(trx);
  });
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
