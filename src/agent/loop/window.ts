// Selects the messages that a model sees when the conversation does not fit into its context.
//
// W1  The session's first message and everything since the message that started this run come first.
// W2  Older exchanges, each from one user message to the next, are left out whole, the oldest first.
// W3  When that is not enough, the run's own turns are left out, each response together with all its tool results.
// W4  So every call in the selection has its result, and every result its call.

import { estimateTokens } from "../models/catalogue.ts";
import type { ModelMessage } from "../models/model.ts";

/** Messages that are kept or left out together. */
type Group = readonly ModelMessage[];

/** Returns the messages that fit into the given number of tokens. Returns the same array when all of them fit. */
export function fitMessages(messages: readonly ModelMessage[], tokensMax: number): readonly ModelMessage[] {
  let tokens = sumTokens(messages);
  if (tokens <= tokensMax) {
    return messages;
  }
  const { first, exchanges, input, turns } = divide(messages);
  for (const droppable of [exchanges, turns]) {
    // The model continues from the newest turn, so that turn always stays.
    const droppedMax = droppable === turns ? turns.length - 1 : droppable.length;
    let dropped = 0;
    for (; tokens > tokensMax && dropped < droppedMax; dropped += 1) {
      tokens -= sumTokens(droppable[dropped] ?? []);
    }
    droppable.splice(0, dropped);
  }
  return [first, ...exchanges, input, ...turns].flat();
}

interface Division {
  readonly first: Group;
  readonly exchanges: Group[];
  readonly input: Group;
  readonly turns: Group[];
}

function divide(messages: readonly ModelMessage[]): Division {
  const inputAt = messages.findLastIndex(({ role }) => role === "user");
  const past = messages.slice(0, Math.max(0, inputAt));
  const exchanges = split(past, ({ role }) => role === "user");
  const first = exchanges[0]?.slice(0, 1) ?? [];
  const [firstAnswer = [], ...others] = exchanges;
  return {
    first,
    exchanges: [firstAnswer.slice(1), ...others].filter((group) => group.length > 0),
    input: messages.slice(Math.max(0, inputAt), inputAt + 1),
    turns: split(messages.slice(inputAt + 1), ({ role }) => role === "assistant"),
  };
}

/** Splits the messages into groups. Each begins where `begins` is true; messages before the first such one form a group. */
export function split<T>(messages: readonly T[], begins: (message: T) => boolean): (readonly T[])[] {
  const groups: T[][] = [];
  for (const message of messages) {
    const current = groups.at(-1);
    if (current === undefined || begins(message)) {
      groups.push([message]);
    } else {
      current.push(message);
    }
  }
  return groups;
}

/** Returns about how many tokens the messages have. */
export function sumTokens(messages: readonly ModelMessage[]): number {
  return messages.reduce((sum, message) => sum + tokensOfMessage(message), 0);
}

/** The tokens that a provider adds to each message. */
const overheadTokens = 4;

function tokensOfMessage(message: ModelMessage): number {
  const own = overheadTokens + estimateTokens(message.text);
  if (message.role !== "assistant") {
    return own;
  }
  const state = message.state === undefined ? 0 : estimateTokens(message.state);
  return message.toolCalls.reduce((sum, call) => sum + estimateTokens(call.name + call.argumentsJson), own + state);
}
