// The owners of memories: a session, an agent or a client. The owner is a hash of names that the service knows; nothing that a model
// writes can change it, so that no client reaches the memory of another.

import { createHash } from "node:crypto";

/** The scopes of memory. */
export const memoryScopes = ["session", "agent", "client"] as const;
/** The name of a memory's scope. */
export type MemoryScope = (typeof memoryScopes)[number];

/** One memory. */
export interface Memory {
  /** The owner of its values in the store. */
  readonly owner: Uint8Array;
  readonly client: string;
  /** The session with which it is deleted; undefined for a memory that stays. */
  readonly session: string | undefined;
}

/** Finds a memory that a run may use. Returns undefined for a scope that it may not use, or that it does not have. */
export type FindMemory = (scope: MemoryScope) => Memory | undefined;

/** Returns the memory of a session, by the id of its row. */
export function memoryOfSession(client: string, session: string): Memory {
  return { owner: hash(["memory", "session", session]), client, session };
}

/** Returns the memory of an agent, by its name. */
export function memoryOfAgent(client: string, name: string): Memory {
  return { owner: hash(["memory", "agent", client, name]), client, session: undefined };
}

/** Returns the memory of a client. */
export function memoryOfClient(client: string): Memory {
  return { owner: hash(["memory", "client", client]), client, session: undefined };
}

/** Hashes the parts. JSON separates them. */
function hash(parts: readonly string[]): Buffer {
  return createHash("sha256").update(JSON.stringify(parts)).digest();
}
