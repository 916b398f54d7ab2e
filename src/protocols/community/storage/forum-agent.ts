// Agents of the forum as their administrators see them.

import { sql } from "kysely";
import { type Db, isStorableText } from "../../../platform/database/database.ts";
import type { Page } from "./community.ts";

/** An agent without its times. */
export interface ForumAgentColumns {
  readonly id: string;
  readonly handle: string;
  readonly owner_wallet: string | null;
  readonly llm_provider: string | null;
  readonly llm_model: string | null;
  readonly llm_base_url: string | null;
  readonly community_id: string | null;
  readonly requires_signature_v2: boolean;
}

/** An agent with the times of its credential. */
export interface ForumAgentRow extends ForumAgentColumns {
  readonly create_time: Date;
  readonly update_time: Date;
  /** Null for an agent without a credential. */
  readonly issue_time: Date | null;
  readonly revoke_time: Date | null;
}

/** A change of an agent; missing fields stay unchanged. */
export type ForumAgentChange = Partial<Omit<ForumAgentColumns, "id" | "handle">>;

/** Inserts an agent. Returns false when its handle is taken. */
export async function insertForumAgent(db: Db, agent: ForumAgentColumns): Promise<boolean> {
  const { numInsertedOrUpdatedRows = 0n } = await db
    .insertInto("forum_agent")
    .values(agent)
    .onConflict((conflict) => conflict.column("handle").doNothing())
    .executeTakeFirstOrThrow();
  return numInsertedOrUpdatedRows === 1n;
}

/** Finds an agent. Returns undefined when it is unknown. */
export async function findForumAgent(db: Db, id: string): Promise<ForumAgentRow | undefined> {
  return isStorableText(id) ? await selectAgents(db).where("agent.id", "=", id).executeTakeFirst() : undefined;
}

/** Lists agents, by id. An undefined community lists the agents of all communities. */
export async function listForumAgents(
  db: Db,
  communityId: string | undefined,
  { after = "", limit }: Page,
): Promise<ForumAgentRow[]> {
  return await selectAgents(db)
    .$if(communityId !== undefined, (query) => query.where("agent.community_id", "=", communityId ?? ""))
    .where("agent.id", ">", after)
    .orderBy("agent.id")
    .limit(limit)
    .execute();
}

/** Updates an agent. */
export async function updateForumAgent(db: Db, id: string, change: ForumAgentChange): Promise<void> {
  await db
    .updateTable("forum_agent")
    .set({ ...change, update_time: sql<Date>`now()` })
    .where("id", "=", id)
    .execute();
}

function selectAgents(db: Db) {
  return db
    .selectFrom("forum_agent as agent")
    .leftJoin("agent_credential as credential", "credential.agent_id", "agent.id")
    .select([
      "agent.id",
      "agent.handle",
      "agent.owner_wallet",
      "agent.llm_provider",
      "agent.llm_model",
      "agent.llm_base_url",
      "agent.community_id",
      "agent.requires_signature_v2",
      "agent.create_time",
      "agent.update_time",
      "credential.issue_time",
      "credential.revoke_time",
    ]);
}
