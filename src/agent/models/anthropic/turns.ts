// Makes the messages of a request.
//
// M1  No block is blank text, and no message of the model ends in thoughts: the service refuses both.
// M2  Neighbours of one role are one message. So all results of a turn are in one message.
// M3  A call that the service ran itself is sent with its result alone. A call without one waits for it, until a user speaks.
// M4  Marks for the cache are on the end of the request and on the end of the previous one (`markForCache`).

import { RawJson } from "../../../platform/base/json/exact.ts";
import type { ModelMessage, ModelToolCall } from "../model.ts";
import { asRecord } from "../wire/frame.ts";
import type { Origin } from "../wire/origin.ts";
import { type IdRule, type SafeIds, safeIds } from "../wire/safe-id.ts";
import { type Block, inputOf, isProviderCall, isProviderResult, isThought } from "./block.ts";
import { contentBlock, isBlank, resultBlock, textBlock } from "./content.ts";
import { type AssistantMessage, readState } from "./state.ts";

/** A message of the conversation as blocks. */
export interface Turn {
  readonly role: ModelMessage["role"];
  readonly blocks: readonly Block[];
  /** The container of a response that ran a program. */
  readonly container?: string | undefined;
}

/** The ids that the service accepts for calls. It has no limit for their length. */
const idRule: IdRule = {
  isValid: (id) => /^[a-zA-Z0-9_-]+$/.test(id),
  make: (hash) => `call_${hash.toString("base64url").slice(0, hashChars)}`,
};

/** Enough digits that two ids never become one. */
const hashChars = 24;

/** Returns the messages as blocks, unchanged but for the ids of calls. */
export function turnsOf(messages: readonly ModelMessage[], origin: Origin): readonly Turn[] {
  const idOf = safeIds(messages, idRule);
  return messages.map((message) => turnOf(message, origin, idOf));
}

/** Returns the messages as the service accepts them. */
export function wireMessages(turns: readonly Turn[]): object[] {
  const said = withoutLostCalls(turns)
    .map(withoutEmptyBlocks)
    .filter(({ blocks }) => blocks.length > 0);
  return join(markForCache(trimEnd(said)));
}

/** The mark of a block, up to which the service caches the request. */
export const cacheMark = { cache_control: { type: "ephemeral" } } as const;

function turnOf(message: ModelMessage, origin: Origin, idOf: SafeIds): Turn {
  const { role } = message;
  switch (role) {
    case "user":
      return { role, blocks: message.parts?.map(contentBlock) ?? [textBlock(message.text)] };
    case "assistant":
      return { role, ...(readState(origin, message, idOf) ?? { blocks: answerOf(message, idOf) }) };
    case "tool":
      return { role, blocks: [resultBlock(message, idOf(message))] };
    default:
      return message satisfies never;
  }
}

function answerOf({ text, toolCalls }: AssistantMessage, idOf: SafeIds): Block[] {
  return [textBlock(text), ...toolCalls.map((call) => callBlock(call, idOf(call)))];
}

function callBlock({ name, argumentsJson }: ModelToolCall, id: string): Block {
  return { type: "tool_use", id, name, input: inputOf(argumentsJson) };
}

/**
 * Leaves out provider calls and results that lack the other one: a response was aborted, or its beginning has left the history. A call
 * may name such a call as the program that made it; it then counts as the model's own.
 */
function withoutLostCalls(turns: readonly Turn[]): Turn[] {
  const lastUser = turns.findLastIndex(({ role }) => role === "user");
  const blocks = turns.flatMap((turn, place) => turn.blocks.map((block) => ({ block, isOpen: place > lastUser })));
  const answered = new Set(blocks.map(({ block }) => (isProviderResult(block.type) ? block.tool_use_id : undefined)));
  const calls = blocks.filter(({ block, isOpen }) => isProviderCall(block.type) && (isOpen || answered.has(block.id)));
  const made = new Set(calls.map(({ block }) => block.id));
  return turns.map(({ role, blocks: all }) => ({
    role,
    blocks: all.filter((block) => isPaired(block, made)).map((block) => withoutLostCaller(block, made)),
  }));
}

function isPaired({ type, id, tool_use_id: callId }: Block, made: ReadonlySet<unknown>): boolean {
  return isProviderCall(type) ? made.has(id) : !isProviderResult(type) || made.has(callId);
}

function withoutLostCaller(block: Block, made: ReadonlySet<unknown>): Block {
  const { caller, ...rest } = block;
  const { tool_id: program } = caller instanceof RawJson ? asRecord(JSON.parse(caller.text)) : {};
  return program === undefined || made.has(program) ? block : { ...rest, type: block.type };
}

function withoutEmptyBlocks({ role, blocks }: Turn): Turn {
  const said = blocks.filter((block) => !isBlank(block));
  return { role, blocks: said.slice(0, said.findLastIndex(({ type }) => !isThought(type)) + 1) };
}

/** The service refuses white space at the end of an answer that it has to go on with. */
function trimEnd(turns: readonly Turn[]): Turn[] {
  const last = turns.at(-1);
  const block = last?.blocks.at(-1);
  if (last?.role !== "assistant" || block?.type !== "text") {
    return [...turns];
  }
  const trimmed = { ...block, text: String(block.text).trimEnd() };
  return [...turns.slice(0, -1), { ...last, blocks: [...last.blocks.slice(0, -1), trimmed] }];
}

// A mark lets the service read everything before it from the cache when an earlier request had the same prefix. Tools come
// before the system prompt, so its mark covers them. A mark finds earlier marks only within some 20 blocks, which one turn of
// parallel calls exceeds. So the end of the previous request is marked again.
function markForCache(turns: readonly Turn[]): Turn[] {
  const marked = new Set([turns.findLastIndex(({ role }) => role === "assistant") - 1, turns.length - 1]);
  return turns.map((turn, place) => (marked.has(place) ? { ...turn, blocks: markLast(turn.blocks) } : turn));
}

/** Blocks of types that are not known may refuse a mark. */
const markable = /^(text|image|document|compaction|\w*tool_use|\w*tool_result)$/;

function markLast(blocks: readonly Block[]): Block[] {
  return blocks.map((block, place) =>
    place === blocks.length - 1 && markable.test(block.type) ? { ...block, ...cacheMark } : block,
  );
}

function join(turns: readonly Turn[]): object[] {
  const joined: { role: "user" | "assistant"; content: Block[] }[] = [];
  for (const { role, blocks } of turns) {
    const side = role === "assistant" ? "assistant" : "user";
    const last = joined.at(-1);
    if (last?.role === side) {
      last.content.push(...blocks);
    } else {
      joined.push({ role: side, content: [...blocks] });
    }
  }
  return joined;
}
