// Whose event a run works on. It decides which history, state and storage the run reaches, and nothing that a runner sends can
// change it.

import { createHash } from "node:crypto";

/** Frozen when the run starts. Undefined is a place of its own: it never means "any". */
export interface RunScope {
  readonly client: string;
  /** `plugin:author/name/runner`. */
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

/** Who did it, or what it is about. */
export interface Party {
  readonly type: string;
  readonly id?: string | undefined;
}

export const stateScopes = ["conversation", "actor", "subject", "runner"] as const;
export type StateScope = (typeof stateScopes)[number];

export function isStateScope(text: string): text is StateScope {
  return (stateScopes as readonly string[]).includes(text);
}

/** Names the conversation; undefined when the event has none. */
export function conversationKey(scope: RunScope): Buffer | undefined {
  const { client, botId, workspaceId, conversationId, threadId } = scope;
  return conversationId === undefined
    ? undefined
    : hash(["conversation", client, botId, workspaceId, conversationId, threadId]);
}

/** Names whose state it is; undefined when the event has nobody of that kind. State is kept apart by runner and by binding. */
export function stateKey(scope: RunScope, of: StateScope): Buffer | undefined {
  const owner = ownerOf(scope, of);
  if (owner === undefined) {
    return undefined;
  }
  const { client, runnerId, bindingId, botId, workspaceId } = scope;
  return hash(["state", of, client, runnerId, bindingId, botId, workspaceId, ...owner]);
}

export type StorageArea = "plugin" | "workspace";

/** Names whose storage it is; undefined when the event has no workspace. */
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

/** `plugin:author/name` of `plugin:author/name/runner`. */
function pluginOf(runnerId: string): string {
  return runnerId.slice(0, runnerId.lastIndexOf("/"));
}

/** JSON tells what is not there (null) from every text, and one part from the next. */
function hash(parts: readonly (string | undefined)[]): Buffer {
  return createHash("sha256")
    .update(JSON.stringify(parts.map((part) => part ?? null)))
    .digest();
}
