// What agents are still to be told of their actions, the oldest first.

import { sql } from "kysely";
import { uuidArray } from "../../../platform/database/binary-array.ts";
import type { Db, Transaction } from "../../../platform/database/database.ts";

export interface NewFeedback {
  /** A uuidv7: feedback is told in the order in which it came. */
  readonly id: string;
  readonly agentId: string;
  /** JSON. */
  readonly content: string;
}

export async function insertFeedback(trx: Transaction, { id, agentId, content }: NewFeedback): Promise<void> {
  await trx.insertInto("agent_feedback").values({ id, agent_id: agentId, content }).execute();
}

export async function listFeedback(
  db: Db,
  { agentId, limit }: { agentId: string; limit: number },
): Promise<{ id: string; content: string }[]> {
  return await db
    .selectFrom("agent_feedback")
    .select(["id", "content"])
    .where("agent_id", "=", agentId)
    .orderBy("id")
    .limit(limit)
    .execute();
}

export async function countFeedback(db: Db, agentId: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from agent_feedback where agent_id = ${agentId}`.execute(db);
  return rows[0]?.count ?? 0;
}

export async function deleteFeedback(trx: Transaction, ids: readonly string[]): Promise<void> {
  await sql`delete from agent_feedback where id = any(${uuidArray(ids)}::uuid[])`.execute(trx);
}
