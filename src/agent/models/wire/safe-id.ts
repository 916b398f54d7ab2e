// Ids of calls in a history. A conversation may have ids of other providers, which this provider refuses, and several calls of one id.
//
// I1  A call and its results are sent under one id, which no other call of the request has.
// I2  An id that the provider accepts stays, unless an earlier call has it.
// I3  Any other id comes from a hash of the id and of the number of earlier calls that have it. So it is the same in each request of
//     the conversation.

import { createHash } from "node:crypto";
import type { ModelMessage, ModelToolCall } from "../model.ts";

/** A message with the result of a call. */
export type ToolMessage = Extract<ModelMessage, { role: "tool" }>;

/** Returns the id under which a call or a result of the history is sent. The object itself is looked up, not its id. */
export type SafeIds = (of: ModelToolCall | ToolMessage) => string;

/** The ids that a provider accepts. */
export interface IdRule {
  readonly isValid: (id: string) => boolean;
  /** Makes an id of the bytes of a hash. */
  readonly make: (hash: Buffer) => string;
}

/** Decides the ids of all calls and results of a history. */
export function safeIds(messages: readonly ModelMessage[], rule: IdRule): SafeIds {
  const { isValid } = rule;
  const safe = new Map<ModelToolCall | ToolMessage, string>();
  const counts = new Map<string, number>();
  const latest = new Map<string, string[]>();
  for (const message of messages) {
    if (message.role === "assistant") {
      const begun = new Map<string, string[]>();
      for (const call of message.toolCalls) {
        const count = counts.get(call.id) ?? 0;
        const id = count === 0 && isValid(call.id) ? call.id : hashOf(call.id, count, rule);
        counts.set(call.id, count + 1);
        safe.set(call, id);
        begun.set(call.id, [...(begun.get(call.id) ?? []), id]);
      }
      for (const [id, ids] of begun) {
        latest.set(id, ids);
      }
    } else if (message.role === "tool") {
      safe.set(message, takeId(latest.get(message.toolCallId)) ?? fallbackOf(message, rule));
    }
  }
  return (of) => safe.get(of) ?? ("role" in of ? fallbackOf(of, rule) : of.id);
}

/** Results of calls with one id come in the order of the calls. A further result belongs to the last of them. */
function takeId(ids: string[] | undefined): string | undefined {
  return ids !== undefined && ids.length > 1 ? ids.shift() : ids?.[0];
}

function fallbackOf({ toolCallId }: ToolMessage, rule: IdRule): string {
  return rule.isValid(toolCallId) ? toolCallId : hashOf(toolCallId, 0, rule);
}

function hashOf(id: string, count: number, { make }: IdRule): string {
  const hash = createHash("sha256")
    .update(JSON.stringify([id, count]))
    .digest();
  return make(hash);
}
