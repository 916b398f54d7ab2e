// The memories that an agent may use: that of its session, unless its settings name others.

import { MemoryScope as Scope } from "#gen/runnel/v1/memory_pb.js";
import type { Agent, AgentTools } from "#gen/runnel/v1/session_pb.js";
import {
  type FindMemory,
  type MemoryScope,
  memoryOfAgent,
  memoryOfClient,
  memoryOfSession,
  memoryScopes,
} from "./owner.ts";

/** Returns the scopes that the settings name, without repetitions; that of the session when they name none. */
export function scopesOf(tools: Pick<AgentTools, "memoryScopes"> | undefined): readonly MemoryScope[] {
  const named = new Set(tools?.memoryScopes ?? []);
  return named.size === 0 ? ["session"] : memoryScopes.filter((scope) => named.has(numbers[scope]));
}

const numbers: Readonly<Record<MemoryScope, Scope>> = {
  session: Scope.SESSION,
  agent: Scope.AGENT,
  client: Scope.CLIENT,
};

/** Creates the look-up of an agent's memories. An agent without a name has none of its own. */
export function createFindMemory(
  { name, tools }: Pick<Agent, "name" | "tools">,
  session: { readonly id: string; readonly client: string },
): FindMemory {
  const scopes = scopesOf(tools);
  const find = {
    session: () => memoryOfSession(session.client, session.id),
    agent: () => (name === "" ? undefined : memoryOfAgent(session.client, name)),
    client: () => memoryOfClient(session.client),
  };
  return (scope) => (scopes.includes(scope) ? find[scope]() : undefined);
}
