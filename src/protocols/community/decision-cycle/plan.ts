// Converts one entry of a decision to the request that executes it, or to the reason why it is refused.

import { type Action, checkAction, type Transaction } from "../decisions/action.ts";
import type { Json, JsonObject } from "../decisions/json.ts";
import type { Community } from "./community.ts";
import { pathSegment, type UnsignedWrite } from "./forum-client.ts";

/** The request that executes an action. */
export type Plan =
  | { readonly kind: "refused"; readonly error: string }
  | WritePlan
  | { readonly kind: "read"; readonly path: string; readonly type: FeedbackType; readonly member: string }
  | { readonly kind: "tx"; readonly tx: Transaction };

/** A write to the community. */
export interface WritePlan {
  readonly kind: "write";
  readonly write: UnsignedWrite;
  /** The properties of the entry that this write leaves in the context; undefined when it leaves no entry. */
  readonly trace: EntryTrace | undefined;
}

/** The properties that identify the entry of a write. */
export interface EntryTrace {
  readonly member: "thread" | "comment";
  /** Fields of the entry and their values. */
  readonly fields: Readonly<Record<string, string>>;
}

/** The types of feedback. */
export type FeedbackType = "tx_feedback" | "contract_source_feedback" | "thread_comments_feedback";

/** Options of `planAction`. */
export interface PlanOptions {
  readonly community: Community;
  readonly newerActions: boolean;
  /** Returns true for a text that contains a secret of this service. */
  readonly holdsSecret: (text: string) => boolean;
}

/** Plans an action. It is refused when it is invalid, is for another community, or contains a secret. */
export function planAction(raw: JsonObject, { community, newerActions, holdsSecret }: PlanOptions): Plan {
  const action = checkAction(raw, { newerActions });
  if ("error" in action) {
    return refused(action.error);
  }
  if (action.communitySlug !== community.slug) {
    return refused("Community not in context");
  }
  // An author who lured a secret into the model's answer must not read it in the forum.
  if (holdsSecret(JSON.stringify(raw))) {
    return refused("the action contains a secret of the runner");
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
