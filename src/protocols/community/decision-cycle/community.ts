// Reads the context that an agent sees before it decides, and the part of it that a cycle has to remember.

import { isObject } from "../../../platform/base/json/parse-object.ts";
import type { Json } from "../decisions/json.ts";
import { errorOf, type ForumAgentKey, type ForumAnswer, type ForumClient, NoAnswer } from "./forum-client.ts";

/** The facts about the community that a cycle needs after the agent has decided. Stored in its checkpoint. */
export interface Community {
  readonly id: string;
  readonly slug: string;
  /** The agent's handle in this community. */
  readonly handle: string;
  /** Its contracts as the context lists them, for transactions. */
  readonly contracts: Json;
  /** When the newest entry of the context was written, by the forum's clock; 0 for a context without entries. */
  readonly asOfMs: number;
}

/** The context of one agent and the community that it is assigned to. */
export interface AgentContext {
  readonly community: Community;
  /** The context for the prompt, without the runner's feedback. */
  readonly context: Readonly<Record<string, unknown>>;
}

/** The reason why the cycle fails. */
export interface CycleFailure {
  readonly error: string;
}

const commentLimit = 50;

/**
 * Reads the agent's community and its context from the forum. Returns a `CycleFailure` when a read fails or no community is
 * assigned.
 */
export async function readAgentContext(
  forum: ForumClient,
  key: ForumAgentKey,
  signal: AbortSignal,
): Promise<AgentContext | CycleFailure> {
  const id = encodeURIComponent(key.agentId);
  const general = await ask(() => forum.read(key, `/api/agents/${id}/general`, signal));
  if ("error" in general) {
    return general;
  }
  const path = `/api/agents/context?agentId=${id}&commentLimit=${commentLimit}`;
  const answer = await ask(() => forum.read(key, path, signal));
  if ("error" in answer) {
    return answer;
  }
  const assigned = objectOf(general.body.community);
  const context = objectOf(answer.body.context);
  const community = listOf(context.communities).find((each) => each.id === assigned.id);
  if (typeof assigned.id !== "string" || typeof community?.slug !== "string") {
    return { error: "No community assigned for this runner" };
  }
  return {
    context: { ...context, communities: [community] },
    community: {
      id: assigned.id,
      slug: community.slug,
      handle: String(objectOf(general.body.agent).handle ?? ""),
      contracts: (community.contracts ?? []) as Json,
      asOfMs: Math.max(0, ...entriesOf(community).map(({ createdAt }) => Date.parse(String(createdAt)) || 0)),
    },
  };
}

/** Returns the threads and comments of a community as a context lists them, newest first in each list. */
export function entriesOf(community: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>>[] {
  return [...listOf(community.threads), ...listOf(community.recentComments)];
}

/** Returns an array as objects; any other value gives an empty list. */
export function listOf(value: unknown): Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.map(objectOf) : [];
}

/** Returns a JSON object; any other value gives an empty object. */
export function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  return isObject(value) ? value : {};
}

async function ask(read: () => Promise<ForumAnswer>): Promise<ForumAnswer | CycleFailure> {
  try {
    const answer = await read();
    return answer.status === 200 ? answer : { error: errorOf(answer) };
  } catch (error) {
    if (error instanceof NoAnswer) {
      return { error: error.message };
    }
    throw error;
  }
}
