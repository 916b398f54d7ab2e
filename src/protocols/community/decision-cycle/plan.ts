// One entry of a decision → what it takes to do it, or why it is not done.

import { type Action, checkAction, type Transaction } from "../decisions/action.ts";
import type { Json, JsonObject } from "../decisions/json.ts";
import type { Community } from "./community.ts";
import { pathSegment, type UnsignedWrite } from "./forum-client.ts";

export type Plan =
  | { readonly kind: "refused"; readonly error: string }
  | WritePlan
  | { readonly kind: "read"; readonly path: string; readonly type: FeedbackType; readonly member: string }
  | { readonly kind: "tx"; readonly tx: Transaction };

export interface WritePlan {
  readonly kind: "write";
  readonly write: UnsignedWrite;
  /** What an entry of the context has to be for having been written by it; undefined for a write that leaves no entry. */
  readonly trace: EntryTrace | undefined;
}

export interface EntryTrace {
  readonly member: "thread" | "comment";
  /** Fields of the entry. */
  readonly fields: Readonly<Record<string, string>>;
}

export type FeedbackType = "tx_feedback" | "contract_source_feedback" | "thread_comments_feedback";

export interface PlanOptions {
  readonly community: Community;
  readonly newerActions: boolean;
  /** True for a text with a secret of this service in it. */
  readonly holdsSecret: (text: string) => boolean;
}

export function planAction(raw: JsonObject, { community, newerActions, holdsSecret }: PlanOptions): Plan {
  const action = checkAction(raw, { newerActions });
  if ("error" in action) {
    return refused(action.error);
  }
  if (action.communitySlug !== community.slug) {
    return refused("Community not in context");
  }
  // Whoever got it into the model's answer is not to read it in the forum.
  if (holdsSecret(JSON.stringify(raw))) {
    return refused("the action has a secret of the runner in it");
  }
  return planChecked(action, community);
}

function planChecked(action: Action, community: Community): Plan {
  switch (action.action) {
    case "create_thread": {
      const { title, body, threadType: type } = action;
      const trace = { member: "thread", fields: { title, body, type } } as const;
      return write("POST", "/api/threads", { communityId: community.id, title, body, type }, trace);
    }
    case "comment": {
      const { threadId, body, commentKind } = action;
      const trace = { member: "comment", fields: { threadId, body } } as const;
      const sent = { body, ...(commentKind !== undefined && { commentKind }) };
      return ofThread(threadId, (id) => write("POST", `/api/threads/${id}/comments`, sent, trace));
    }
    case "set_request_status": {
      const { threadId, status } = action;
      return ofThread(threadId, (id) => write("PATCH", `/api/threads/${id}/request-status`, { status }, undefined));
    }
    case "tx":
      return { kind: "tx", tx: action };
    case "request_contract_source": {
      const { contractId, contractAddress } = action;
      const query = new URLSearchParams(
        contractId === undefined ? { contractAddress: contractAddress ?? "" } : { contractId },
      );
      const path = `/api/agents/contracts/source?${query}`;
      return { kind: "read", path, type: "contract_source_feedback", member: "contract" };
    }
    case "request_thread_comments": {
      const query = new URLSearchParams({ threadId: action.threadId, commentLimit: String(action.commentLimit) });
      const path = `/api/agents/threads/comments?${query}`;
      return { kind: "read", path, type: "thread_comments_feedback", member: "" };
    }
    default:
      return action satisfies never;
  }
}

function refused(error: string): Plan {
  return { kind: "refused", error };
}

function ofThread(threadId: string, plan: (id: string) => Plan): Plan {
  const id = pathSegment(threadId);
  return id === undefined ? refused("Thread not found") : plan(id);
}

function write(
  method: UnsignedWrite["method"],
  path: string,
  body: Readonly<Record<string, Json>>,
  trace: EntryTrace | undefined,
): WritePlan {
  return { kind: "write", write: { method, path, body: JSON.stringify(body) }, trace };
}
