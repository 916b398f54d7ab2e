// The agents that bindings name. `runners/` defines their bodies.

import { type Selectable, sql } from "kysely";
import { type Db, isStorableText } from "../../../platform/database/database.ts";
import { type RowPage, readPage } from "../../../platform/database/row-page.ts";
import type { AgentProfileTable } from "./schema.ts";

/** A stored agent profile. */
export type AgentProfileRow = Selectable<AgentProfileTable>;

interface ProfileName {
  readonly client: string;
  readonly agentId: string;
}

/** Creates a profile, or replaces the one with its id. */
export async function putAgentProfile(
  db: Db,
  { client, agentId, body }: ProfileName & { body: Uint8Array },
): Promise<AgentProfileRow> {
  const content = { body: Buffer.from(body) };
  return await db
    .insertInto("agent_profile")
    .values({ client, agent_id: agentId, ...content })
    .onConflict((conflict) =>
      conflict.columns(["client", "agent_id"]).doUpdateSet({ ...content, update_time: sql<Date>`now()` }),
    )
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Returns a profile; undefined when it is unknown. */
export async function findAgentProfile(db: Db, { client, agentId }: ProfileName): Promise<AgentProfileRow | undefined> {
  if (!isStorableText(agentId)) {
    return undefined;
  }
  return await profilesOf(db, client).where("agent_id", "=", agentId).executeTakeFirst();
}

/** Lists profiles by id. Bodies may be large, so a page may be short. */
export async function listAgentProfiles(
  db: Db,
  args: { client: string; after: string | undefined; limit: number },
): Promise<RowPage<AgentProfileRow>> {
  const { client, after, limit } = args;
  let query = profilesOf(db, client)
    .orderBy("agent_id")
    .limit(limit + 1);
  if (after !== undefined) {
    query = query.where("agent_id", ">", after);
  }
  return await readPage(db, query, { order: sql`agent_id`, body: "body", limit });
}

/** Deletes a profile. Returns false when it is unknown. */
export async function deleteAgentProfile(db: Db, { client, agentId }: ProfileName): Promise<boolean> {
  if (!isStorableText(agentId)) {
    return false;
  }
  const { numDeletedRows } = await db
    .deleteFrom("agent_profile")
    .where("client", "=", client)
    .where("agent_id", "=", agentId)
    .executeTakeFirst();
  return numDeletedRows === 1n;
}

function profilesOf(db: Db, client: string) {
  return db
    .selectFrom("agent_profile")
    .select(["client", "agent_id", "body", "create_time", "update_time"])
    .where("client", "=", client);
}
