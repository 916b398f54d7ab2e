// The scope of a run: the parties of its event. It decides which history, state and storage the run reaches. Nothing that a
// runner sends can change it.

import { createHash } from "node:crypto";

/** The scope, frozen when the run starts. Undefined is a value of its own: it never means "any". */
export interface RunScope {
  readonly client: string;
  /** The id of the runner: `plugin:author/name/runner`. */
  readonly runnerId: string;
  readonly bindingId: string;
  readonly eventId: string;
  readonly botId?: string | undefined;
  readonly workspaceId?: string | undefined;
  readonly conversationId?: string | undefined;
  readonly threadId?: string | undefined;
  readonly actor?: Party | undefined;
  readonly subject?: Party | undefined;
}

/** The actor or the subject of an event. */
export interface Party {
  readonly type: string;
  readonly id?: string | undefined;
}

/** The scopes of state. */
export const stateScopes = ["conversation", "actor", "subject", "runner"] as const;
/** The name of a state's scope. */
export type StateScope = (typeof stateScopes)[number];

/** Whether the text names a scope of state. */
export function isStateScope(text: string): text is StateScope {
  return (stateScopes as readonly string[]).includes(text);
}

/** Returns the key of the conversation; undefined for an event without a conversation. */
export function conversationKey(scope: RunScope): Buffer | undefined {
  const { client, botId, workspaceId, conversationId, threadId } = scope;
  return conversationId === undefined
    ? undefined
    : hash(["conversation", client, botId, workspaceId, conversationId, threadId]);
}

/**
 * Returns the key of the state's owner; undefined when the event has no such party. Each runner and each binding has its own
 * state.
 */
export function stateKey(scope: RunScope, of: StateScope): Buffer | undefined {
  const owner = ownerOf(scope, of);
  if (owner === undefined) {
    return undefined;
  }
  const { client, runnerId, bindingId, botId, workspaceId } = scope;
  return hash(["state", of, client, runnerId, bindingId, botId, workspaceId, ...owner]);
}

/** The areas of storage. */
export type StorageArea = "plugin" | "workspace";

/** Returns the key of the storage's owner; undefined for the workspace area when the event has no workspace. */
export function storageKey({ client, runnerId, workspaceId }: RunScope, area: StorageArea): Buffer | undefined {
  if (area === "plugin") {
    return hash(["plugin storage", client, pluginOf(runnerId)]);
  }
  return workspaceId === undefined ? undefined : hash(["workspace storage", client, workspaceId]);
}

function ownerOf({ conversationId, threadId, actor, subject }: RunScope, of: StateScope) {
  switch (of) {
    case "conversation":
      return conversationId === undefined ? undefined : [conversationId, threadId];
    case "actor":
      return actor && [actor.type, actor.id];
    case "subject":
      return subject && [subject.type, subject.id];
    case "runner":
      return [];
    default:
      return of satisfies never;
  }
}

/** Returns `plugin:author/name` of `plugin:author/name/runner`. */
function pluginOf(runnerId: string): string {
  return runnerId.slice(0, runnerId.lastIndexOf("/"));
}

/** Hashes the parts. JSON separates them, and distinguishes a missing part (null) from every text. */
function hash(parts: readonly (string | undefined)[]): Buffer {
  return createHash("sha256")
    .update(JSON.stringify(parts.map((part) => part ?? null)))
    .digest();
}
