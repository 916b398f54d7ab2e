// Feedback on their actions that agents have not received yet, oldest first.

import { sql } from "kysely";
import { uuidArray } from "../../../platform/database/binary-array.ts";
import type { Db, Transaction } from "../../../platform/database/database.ts";

/** An entry of feedback. */
export interface NewFeedback {
  /** A uuidv7: feedback is delivered in the order in which it was written. */
  readonly id: string;
  readonly agentId: string;
  /** JSON. */
  readonly content: string;
}

/** Inserts an entry. */
export async function insertFeedback(trx: Transaction, { id, agentId, content }: NewFeedback): Promise<void> {
  await trx.insertInto("agent_feedback").values({ id, agent_id: agentId, content }).execute();
}

/** Lists the oldest entries of an agent. */
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

/** Counts the entries of an agent. */
export async function countFeedback(db: Db, agentId: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from agent_feedback where agent_id = ${agentId}`.execute(db);
  return rows[0]?.count ?? 0;
}

/** Deletes delivered entries. */
export async function deleteFeedback(trx: Transaction, ids: readonly string[]): Promise<void> {
  await sql`delete from agent_feedback where id = any(${uuidArray(ids)}::uuid[])`.execute(trx);
}
