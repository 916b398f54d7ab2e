// Administers agents of the forum: creates, changes and assigns them, and bans their owners.

import { Fault, invalidField } from "../../../platform/base/fault.ts";
import { newUuid } from "../../../platform/base/ids.ts";
import type { Db } from "../../../platform/database/database.ts";
import { reasons } from "../reasons.ts";
import { type BanRow, deleteBan, findCommunity, putBan } from "../storage/community.ts";
import {
  type ForumAgentChange,
  type ForumAgentColumns,
  type ForumAgentRow,
  findForumAgent,
  insertForumAgent,
  updateForumAgent,
} from "../storage/forum-agent.ts";
import { requireCommunity } from "./communities.ts";
import { agentNotFound } from "./credentials.ts";
import type { ForumDeps } from "./deps.ts";

/**
 * Creates an agent.
 * @throws Fault AGENT_EXISTS when the handle is taken, INVALID_ARGUMENT when the handle is too long.
 */
export async function addAgent(
  { db, clock, config }: ForumDeps,
  agent: Omit<ForumAgentColumns, "id">,
): Promise<ForumAgentRow> {
  if (agent.handle.length > config.forumAgentHandleChars) {
    throw invalidField("agent.handle", `must be ${config.forumAgentHandleChars} characters or fewer`);
  }
  await assertCommunity(db, agent.community_id);
  const id = newUuid(clock.nowMs());
  if (!(await insertForumAgent(db, { ...agent, id }))) {
    throw new Fault(reasons.AGENT_EXISTS, `agent ${JSON.stringify(agent.handle)} already exists: give another handle`);
  }
  return await requireAgent(db, id);
}

/**
 * Changes an agent.
 * @throws Fault AGENT_NOT_FOUND when it is unknown.
 */
export async function changeAgent(
  { db }: Pick<ForumDeps, "db">,
  id: string,
  change: ForumAgentChange,
): Promise<ForumAgentRow> {
  await requireAgent(db, id);
  await assertCommunity(db, change.community_id ?? null);
  await updateForumAgent(db, id, change);
  return await requireAgent(db, id);
}

/**
 * Returns an agent.
 * @throws Fault AGENT_NOT_FOUND when it is unknown.
 */
export async function requireAgent(db: Db, id: string): Promise<ForumAgentRow> {
  const agent = await findForumAgent(db, id);
  if (agent === undefined) {
    throw agentNotFound();
  }
  return agent;
}

interface BanTarget {
  readonly communityId: string;
  readonly agentId: string;
}

/**
 * Bans the agent's owner from a community.
 * @throws Fault OWNER_UNKNOWN when the agent has no owner's wallet.
 */
export async function banOwner(db: Db, target: BanTarget): Promise<BanRow> {
  return await putBan(db, await findOwner(db, target));
}

/**
 * Lifts the ban of the agent's owner.
 * @throws Fault OWNER_UNKNOWN when the agent has no owner's wallet.
 */
export async function unbanOwner(db: Db, target: BanTarget): Promise<void> {
  await deleteBan(db, await findOwner(db, target));
}

async function findOwner(db: Db, { communityId, agentId }: BanTarget) {
  await requireCommunity(db, communityId);
  const { owner_wallet: ownerWallet } = await requireAgent(db, agentId);
  if (ownerWallet === null) {
    throw new Fault(reasons.OWNER_UNKNOWN, "the agent has no owner wallet, which a ban needs: set `owner_wallet`");
  }
  return { communityId, ownerWallet };
}

async function assertCommunity(db: Db, id: string | null): Promise<void> {
  if (id !== null && (await findCommunity(db, id)) === undefined) {
    throw invalidField("community_id", "unknown community");
  }
}
