// The state of a response: its blocks in order, as the service wants them back. Only responses with more than text and calls have one.

import { printJson, RawJson } from "../../../platform/base/json/exact.ts";
import { type JsonObject, memberOf, textMember } from "../../../platform/base/json/free.ts";
import { findJson } from "../../../platform/base/json/text.ts";
import type { ModelMessage, ModelToolCall } from "../model.ts";
import { isOfOtherModel, type Origin } from "../wire/origin.ts";
import { sameCalls } from "../wire/same-calls.ts";
import { type Block, isProviderCall, isThought } from "./block.ts";
import type { ResponseBlock } from "./response-block.ts";

/** The message of a response. */
export type AssistantMessage = Extract<ModelMessage, { role: "assistant" }>;

/** Distinguishes these states from those of the same account's other format. */
const kind = "messages";

/** A response with its end. */
export interface NewState {
  readonly blocks: readonly ResponseBlock[];
  /** The service's computer that ran its programs, which later requests of the turn name. */
  readonly container: string | undefined;
  readonly isCut: boolean;
  /** The ids of provider calls that will never have a result. The service refuses such calls. */
  readonly abandoned: ReadonlySet<string>;
}

/** Returns the state as JSON text, or undefined when the text and the calls say everything. */
export function writeState(
  { provider, model }: Origin,
  { blocks, container, isCut, abandoned }: NewState,
): string | undefined {
  if (!blocks.some((block) => block.isWorthKeeping)) {
    return undefined;
  }
  const kept = blocks.filter(({ type, id }) => !(isProviderCall(type) && abandoned.has(id)));
  const written = kept.map((block) => block.toRequest(isCut && block.type === "tool_use"));
  return printJson({ provider, model, kind, container, blocks: written.filter((block) => block !== undefined) });
}

/** A state that was read. */
export interface KnownState {
  readonly container: string | undefined;
  readonly blocks: readonly Block[];
}

/** Returns the id under which a call of a message is sent. */
type CallIds = (call: ModelToolCall) => string;

/**
 * Reads the state of a message; its calls get their ids from `idOf`. Thoughts of another model are left out: their signature is
 * that model's. All other blocks, such as results of a search, are of no model. Returns undefined for a state of another provider or
 * format, and for invalid text.
 */
export function readState(
  origin: Origin,
  { state, toolCalls }: AssistantMessage,
  idOf: CallIds,
): KnownState | undefined {
  const root = state === undefined ? undefined : findJson(state);
  const blocks = memberOf(root, "blocks");
  if (state === undefined || blocks?.kind !== "array") {
    return undefined;
  }
  if (textMember(root, "provider") !== origin.provider || textMember(root, "kind") !== kind) {
    return undefined;
  }
  const isForeign = isOfOtherModel(textMember(root, "model"), origin);
  const all = blocks.items.filter((node) => node.kind === "object").map((node) => readBlock(state, node));
  const known = isForeign ? all.filter(({ type }) => !isThought(type)) : all;
  return { container: textMember(root, "container"), blocks: keepCalls(known, toolCalls, idOf) };
}

/** The members that the body reads. All others stay as they are written. */
const readMembers: ReadonlySet<string> = new Set(["type", "id", "name", "tool_use_id", "text"]);

function readBlock(state: string, { members }: JsonObject): Block {
  const values = members.map(({ key, value }) => {
    const isRead = value.kind === "string" && readMembers.has(key.value);
    return [key.value, isRead ? value.value : new RawJson(state.slice(value.start, value.end))] as const;
  });
  return { type: "", ...Object.fromEntries(values) };
}

/** Leaves out the calls that the message lacks: the service refuses a call without a result. */
function keepCalls(blocks: readonly Block[], made: readonly ModelToolCall[], idOf: CallIds): readonly Block[] {
  const find = sameCalls(made);
  return blocks.flatMap((block) => {
    if (block.type !== "tool_use") {
      return [block];
    }
    const call = find({ id: String(block.id), name: String(block.name) });
    return call === undefined ? [] : [{ ...block, id: idOf(call) }];
  });
}
