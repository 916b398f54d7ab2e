// Stores what clients spend on a day (UTC), including what active runs have reserved. Every change locks its row, so two runs,
// on the same or on different replicas, never reserve the same tokens.

import { sql } from "kysely";
import type { Db } from "../../../platform/database/database.ts";

/** An amount of tokens and of money, in millionths of a US dollar. */
export interface Amount {
  readonly tokens: number;
  readonly costMicroUsd: number;
}

/** An amount on a day. */
export interface DaysAmount extends Amount {
  /** The day as the database prints it, for example 2026-11-21. */
  readonly day: string;
}

/** Reserves the amount asked for, or the rest of the day's limits; a limit of 0 means no limit. Returns the reservation. */
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

/** Adds a difference to a day's usage. The difference is negative when tokens are returned. */
export async function correctUsage(db: Db, args: { client: string } & DaysAmount): Promise<void> {
  await sql`update client_usage set tokens = greatest(0, tokens + ${args.tokens}::bigint),
      cost_micro_usd = greatest(0, cost_micro_usd + ${args.costMicroUsd}::bigint)
    where client = ${args.client} and day = ${args.day}::date`.execute(db);
}

/** Returns what the client has used and reserved today (UTC), 0 when there is no row yet. */
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
