// The use of the host API by runs of runners. Calls are counted before they are made, on any replica.

import { sql } from "kysely";
import type { Amount } from "../../../agent/budget/storage/client-usage.ts";
import type { Db } from "../../../platform/database/database.ts";

/** Counts one more model call. Returns the usage of the run before it, or undefined when the run has no calls left. */
export async function takeModelCall(
  db: Db,
  { runId, max }: { runId: string; max: number },
): Promise<Amount | undefined> {
  const row = await db
    .updateTable("remote_run")
    .set({ model_calls: sql<number>`model_calls + 1` })
    .where("run_id", "=", runId)
    .where("model_calls", "<", max)
    .returning(["used_tokens", "used_cost_micro_usd"])
    .executeTakeFirst();
  return row && { tokens: row.used_tokens, costMicroUsd: row.used_cost_micro_usd };
}

/** Counts one more tool call. Returns false when the run has no calls left. */
export async function takeToolCall(db: Db, { runId, max }: { runId: string; max: number }): Promise<boolean> {
  const row = await db
    .updateTable("remote_run")
    .set({ tool_calls: sql<number>`tool_calls + 1` })
    .where("run_id", "=", runId)
    .where("tool_calls", "<", max)
    .returning("run_id")
    .executeTakeFirst();
  return row !== undefined;
}

/** Adds the usage of a call to its run. */
export async function addHostUsage(db: Db, { runId, tokens, costMicroUsd }: { runId: string } & Amount): Promise<void> {
  await db
    .updateTable("remote_run")
    .set({
      used_tokens: sql<number>`used_tokens + ${Math.ceil(tokens)}::bigint`,
      used_cost_micro_usd: sql<number>`used_cost_micro_usd + ${Math.ceil(costMicroUsd)}::bigint`,
    })
    .where("run_id", "=", runId)
    .execute();
}
