// Sums what the ended runs of a client used, by day, model and agent.

import { sql } from "kysely";
import type { Db } from "../../platform/database/database.ts";

/** The usage of one day, model and agent. */
export interface DayUsageRow {
  /** UTC, such as `2026-11-21`. */
  readonly day: string;
  readonly model: string;
  readonly agent_name: string;
  readonly runs: number;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly cost_micro_usd: number;
}

/** The place of a row in the order of rows. */
export type DayUsageKey = Pick<DayUsageRow, "day" | "model" | "agent_name">;

/** Returns rows from the newest day on, then by model and agent. Both days are inclusive. */
export async function listDayUsage(
  db: Db,
  args: { client: string; dayFrom: string; dayTo: string; after: DayUsageKey | undefined; limit: number },
): Promise<DayUsageRow[]> {
  const { client, dayFrom, dayTo, after, limit } = args;
  const sum = (column: string) => sql`least(coalesce(sum(${sql.ref(column)}), 0), ${sumMax}::int8)::int8`;
  // No run ended after the last row's day that a page still has to show.
  const { rows } = await sql<DayUsageRow>`
    select day::text, model, agent_name, runs, prompt_tokens, completion_tokens, cost_micro_usd from (
      select (end_time at time zone 'UTC')::date as day, coalesce(model, '') collate "C" as model,
        coalesce(agent_name, '') collate "C" as agent_name, count(*) as runs, ${sum("prompt_tokens")} as prompt_tokens,
        ${sum("completion_tokens")} as completion_tokens, ${sum("cost_micro_usd")} as cost_micro_usd
      from run
      where client collate "C" = ${client} and end_time >= ${dayFrom}::date::timestamp at time zone 'UTC'
        and end_time < (${after?.day ?? dayTo}::date + 1)::timestamp at time zone 'UTC'
      group by 1, 2, 3
    ) as used
    where ${after === undefined ? sql`true` : sql`day < ${after.day}::date or (model, agent_name) > (${after.model}, ${after.agent_name})`}
    order by used.day desc, model, agent_name limit ${limit}`.execute(db);
  return rows;
}

/** The largest sum that fits into a number; runners may report any figures. */
const sumMax = Number.MAX_SAFE_INTEGER;
