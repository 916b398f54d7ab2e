// Reads what the ended runs of a client used, by day, model and agent.

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
  const startOf = (day: string) => sql`${day}::date::timestamp at time zone 'UTC'`;
  const isAfter =
    after === undefined
      ? sql`true`
      : sql`(start_time < ${startOf(after.day)} or (model, agent_name) > (${after.model}, ${after.agent_name}))`;
  // No row after the last one of a page has a later day.
  const { rows } = await sql<DayUsageRow>`
    select (start_time at time zone 'UTC')::date::text as day, model, agent_name, completed + failed + cancelled as runs,
      prompt_tokens, completion_tokens, cost_micro_usd
    from usage_sum
    where client = ${client} and seconds = ${daySeconds} and start_time >= ${startOf(dayFrom)}
      and start_time <= ${startOf(after?.day ?? dayTo)} and ${isAfter}
    order by start_time desc, model, agent_name limit ${limit}`.execute(db);
  return rows;
}

/** The period of the sums that are kept by the day. */
const daySeconds = 86_400;
