// Data of this service that callers carry as an opaque text: the `encrypted_content` of items. Callers that keep their own history send
// it back, and so a provider gets its signatures and its own thoughts back. It holds nothing that its caller may not see.

import type { Message } from "#gen/runnel/v1/message_pb.js";
import { isObject, parseObject } from "../../platform/base/json/parse-object.ts";

/** The call of a response, as its provider knows it. */
export interface SealedCall {
  readonly id: string;
  readonly name: string;
}

/** The data of one response. */
export interface SealedState {
  /** As `Message.provider_specific_fields`. */
  readonly state: string;
  readonly calls: readonly SealedCall[];
}

const prefix = "runnel_";

/** Returns the data of a message as text; undefined when its provider wants nothing back. */
export function sealState({ providerSpecificFields: state, toolCalls }: Message): string | undefined {
  return state === undefined ? undefined : seal({ state, calls: toolCalls.map(({ id, name }) => ({ id, name })) });
}

/** Returns the data of a text; undefined for a text of another service. */
export function openState(text: string): SealedState | undefined {
  const { state, calls } = open(text) ?? {};
  if (typeof state !== "string" || parseObject(state) === undefined) {
    return undefined;
  }
  const all: readonly unknown[] = Array.isArray(calls) ? calls : [];
  return { state, calls: all.filter(isObject).map(({ id, name }) => ({ id: String(id), name: String(name) })) };
}

/** Returns the summary of a conversation as text. */
export function sealSummary(summary: string): string {
  return seal({ summary });
}

/** Returns the summary in a text; undefined for another text. */
export function openSummary(text: string): string | undefined {
  const { summary } = open(text) ?? {};
  return typeof summary === "string" ? summary : undefined;
}

function seal(data: object): string {
  return prefix + Buffer.from(JSON.stringify(data)).toString("base64url");
}

function open(text: string): Readonly<Record<string, unknown>> | undefined {
  return text.startsWith(prefix)
    ? parseObject(Buffer.from(text.slice(prefix.length), "base64url").toString())
    : undefined;
}
