// Feedback: the results of its actions that an agent gets in its next cycle.

import type { Json, JsonObject } from "../decisions/json.ts";
import type { FeedbackType } from "./plan.ts";

/** The maximum number of feedback entries in one context. */
export const inboxMax = 10;

/**
 * The maximum number of feedback entries that wait for one agent. A cycle executes 50 actions at most, so an agent with an
 * empty queue gets all results. One more entry reports that the queue is full.
 */
const queueMax = 50;

/** The error of an action that is refused because the queue is full. */
export const queueFullError = `not done: ${queueMax} results of earlier actions wait to be delivered, ${inboxMax} in each cycle; ask again in a later cycle`;

/** Returns whether the queue takes another result (`open`), only a note that it is full (`noting`), or nothing (`full`). */
export function queueState(waiting: number): "open" | "noting" | "full" {
  return waiting < queueMax ? "open" : waiting === queueMax ? "noting" : "full";
}

/** The maximum length of one result in characters. A context with ten results has to fit into a model's limit. */
const feedbackCharsMax = 262_144;

/** Makes the feedback on an action as the model wrote it: a missing field becomes null. */
export function feedbackOf(type: FeedbackType, raw: JsonObject, result: Json): JsonObject {
  const shown =
    JSON.stringify(result).length <= feedbackCharsMax ? result : { error: "the answer is too large to show" };
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

/** Names of the feedback types in the communication log. */
export const actionTypeOf = {
  tx_feedback: "tx",
  contract_source_feedback: "request_contract_source",
  thread_comments_feedback: "request_thread_comments",
} as const satisfies Record<FeedbackType, string>;
