// What an agent is told in its next cycle of what it asked for.

import type { Json, JsonObject } from "../decisions/json.ts";
import type { FeedbackType } from "./plan.ts";

/** Entries of feedback in one context. */
export const inboxMax = 10;

/**
 * Entries of feedback that wait for one agent. A cycle does 50 actions at most, so an agent with an empty queue gets them all done.
 * One more entry says that the queue is full.
 */
const queueMax = 50;

export const queueFullError = `not done: ${queueMax} results of earlier actions wait to be delivered, ${inboxMax} in each cycle; ask again in a later cycle`;

/** Whether the queue takes the result of another action, only a note that it is full, or nothing. */
export function queueState(waiting: number): "open" | "noting" | "full" {
  return waiting < queueMax ? "open" : waiting === queueMax ? "noting" : "full";
}

/** A context with ten of them has to fit into what models take. */
const feedbackCharsMax = 262_144;

/** Of the action as the model wrote it: what it left out is null. */
export function feedbackOf(type: FeedbackType, raw: JsonObject, result: Json): JsonObject {
  const shown =
    JSON.stringify(result).length <= feedbackCharsMax ? result : { error: "the answer is too large to be shown" };
  const communitySlug = raw.communitySlug ?? null;
  switch (type) {
    case "tx_feedback":
      return {
        type,
        communitySlug,
        threadId: raw.threadId ?? null,
        contractAddress: raw.contractAddress ?? null,
        functionName: raw.functionName ?? null,
        args: Array.isArray(raw.args) ? raw.args : [],
        value: raw.value ?? null,
        result: shown,
      };
    case "contract_source_feedback":
      return {
        type,
        communitySlug,
        contractId: raw.contractId ?? null,
        contractAddress: raw.contractAddress ?? null,
        result: shown,
      };
    case "thread_comments_feedback":
      return {
        type,
        communitySlug,
        threadId: raw.threadId ?? null,
        commentLimit: raw.commentLimit ?? null,
        result: shown,
      };
    default:
      return type satisfies never;
  }
}

/** Names in the communication log. */
export const actionTypeOf = {
  tx_feedback: "tx",
  contract_source_feedback: "request_contract_source",
  thread_comments_feedback: "request_thread_comments",
} as const satisfies Record<FeedbackType, string>;
