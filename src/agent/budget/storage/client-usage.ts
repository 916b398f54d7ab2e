// What clients have spent on a day (UTC), with what runs at work have set aside. Rows change under their lock, so that no
// two runs, on whatever replicas, set aside the same tokens.

import { sql } from "kysely";
import type { Db } from "../../../platform/database/database.ts";

export interface Amount {
  readonly tokens: number;
  readonly costMicroUsd: number;
}

export interface DaysAmount extends Amount {
  /** As the database has it: 2026-11-21. */
  readonly day: string;
}

/** Sets aside what is asked for, or what is left of the day's limits; a limit of 0 is none. Returns what was set aside. */
export async function reserveUsage(db: Db, args: { client: string; asked: Amount; max: Amount }): Promise<DaysAmount> {
  const { client, asked, max } = args;
  return await db.transaction().execute(async (trx) => {
    await sql`insert into client_usage (client, day) values (${client}, ${today}) on conflict do nothing`.execute(trx);
    const { rows } = await sql<{ day: string; tokens: number; cost: number }>`
      with granted as (
        select day, ${leastLeft(sql.ref("tokens"), asked.tokens, max.tokens)} as tokens,
          ${leastLeft(sql.ref("cost_micro_usd"), asked.costMicroUsd, max.costMicroUsd)} as cost
        from client_usage where client = ${client} and day = ${today} for update
      )
      update client_usage set tokens = client_usage.tokens + granted.tokens,
        cost_micro_usd = client_usage.cost_micro_usd + granted.cost
      from granted where client = ${client} and client_usage.day = granted.day
      returning client_usage.day::text as day, granted.tokens as tokens, granted.cost as cost`.execute(trx);
    const [row] = rows;
    if (row === undefined) {
      throw new Error("a day's row that was just made is gone");
    }
    return { day: row.day, tokens: row.tokens, costMicroUsd: row.cost };
  });
}

/** Corrects what was set aside on a day by a difference, which is negative for what is given back. */
export async function correctUsage(db: Db, args: { client: string } & DaysAmount): Promise<void> {
  await sql`update client_usage set tokens = greatest(0, tokens + ${args.tokens}::bigint),
      cost_micro_usd = greatest(0, cost_micro_usd + ${args.costMicroUsd}::bigint)
    where client = ${args.client} and day = ${args.day}::date`.execute(db);
}

export async function readUsageOfToday(db: Db, client: string): Promise<DaysAmount> {
  const { rows } = await sql<{ day: string; tokens: number | null; cost: number | null }>`
    select today.day::text as day, tokens, cost_micro_usd as cost
    from (select ${today} as day) as today
    left join client_usage on client_usage.client = ${client} and client_usage.day = today.day`.execute(db);
  const [row] = rows;
  return { day: row?.day ?? "", tokens: row?.tokens ?? 0, costMicroUsd: row?.cost ?? 0 };
}

const today = sql`(now() at time zone 'utc')::date`;

function leastLeft(spent: ReturnType<typeof sql.ref>, asked: number, max: number) {
  return max === 0 ? sql`${asked}::bigint` : sql`greatest(0, least(${asked}::bigint, ${max}::bigint - ${spent}))`;
}
