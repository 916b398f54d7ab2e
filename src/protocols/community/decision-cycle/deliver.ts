// Sends a signed write until its outcome is known, and never does it twice.
//
// It sends the same bytes again, because their nonce is good once. A write that had not arrived before is done now. A write
// that had arrived gives 401, and then the context shows whether it was done. When the outcome stays unknown, the write is
// reported as interrupted and not tried again: a new signature would do it a second time.

import type { Clock } from "../../../platform/base/clock.ts";
import { type Community, entriesOf, listOf, objectOf } from "./community.ts";
import {
  errorOf,
  type ForumAgentKey,
  type ForumAnswer,
  type ForumClient,
  NoAnswer,
  type SignedWrite,
} from "./forum-client.ts";
import type { EntryTrace } from "./plan.ts";

/** The outcome of a write. */
export type WriteEnd = { readonly result: Readonly<Record<string, unknown>> } | { readonly error: string };

/** The agent, its community and the client that sends the write. */
export interface Delivery {
  readonly forum: ForumClient;
  readonly key: ForumAgentKey;
  readonly clock: Clock;
  readonly community: Community;
  /** Aborts the wait between two attempts. */
  readonly signal: AbortSignal;
  /** Ids of the entries that this cycle has already written. */
  readonly writtenIds: ReadonlySet<string>;
}

/** Three attempts of ten seconds each fit into the two minutes for which a nonce is good. */
const attemptsMax = 3;
const pauseMs = 1_000;
/** Attempts to find the entry in the context: a nonce is used up a moment before its write becomes visible. */
const looksMax = 3;
const lookPauseMs = 500;

const interruptedError = "interrupted: the action may have been executed, and is not repeated";

/**
 * Sends the write. Returns undefined when the run must stop before the outcome is known.
 * `wasBegun` means that a process that died may have sent it before.
 */
export async function deliver(
  delivery: Delivery,
  write: SignedWrite,
  { trace, wasBegun }: { trace: EntryTrace | undefined; wasBegun: boolean },
): Promise<WriteEnd | undefined> {
  const { forum, key, clock, signal } = delivery;
  let mayBeDone = wasBegun;
  for (let attempt = 1; ; attempt++) {
    const answer = await forum.send(key, write).catch(onlyNoAnswer);
    const isUnknown = answer instanceof NoAnswer || answer.status >= 500;
    if (!isUnknown && answer.status === 401 && mayBeDone) {
      return (await lookFor(delivery, trace)) ?? { error: interruptedError };
    }
    if (!isUnknown && answer.status !== 429) {
      return endOf(answer);
    }
    mayBeDone ||= isUnknown;
    if (attempt === attemptsMax) {
      const found = mayBeDone ? await lookFor(delivery, trace) : undefined;
      return found ?? { error: mayBeDone ? interruptedError : errorOf(answer as ForumAnswer) };
    }
    await clock.sleep(pauseMs * attempt, signal);
    if (signal.aborted) {
      return undefined;
    }
  }
}

function endOf(answer: ForumAnswer): WriteEnd {
  const isDone = answer.status >= 200 && answer.status < 300;
  return isDone ? { result: answer.body } : { error: errorOf(answer) };
}

/** Searches the context for an entry that only this write can have made. Returns undefined when it finds no such entry. */
async function lookFor(delivery: Delivery, trace: EntryTrace | undefined): Promise<WriteEnd | undefined> {
  const { forum, key, clock, signal } = delivery;
  if (trace === undefined) {
    return undefined;
  }
  const path = `/api/agents/context?agentId=${encodeURIComponent(key.agentId)}&commentLimit=200`;
  for (let look = 1; look <= looksMax && !signal.aborted; look++) {
    const answer = await forum.read(key, path, signal).catch(onlyNoAnswer);
    const entry = answer instanceof NoAnswer ? undefined : findEntry(answer, delivery, trace);
    if (entry !== undefined) {
      return { result: { [trace.member]: entry } };
    }
    await clock.sleep(lookPauseMs, signal);
  }
  return undefined;
}

/**
 * Finds an entry by this agent with the same words that is newer than the cycle's context and not from another action of the
 * cycle.
 */
function findEntry({ body }: ForumAnswer, { community, writtenIds }: Delivery, { fields }: EntryTrace) {
  const communities = listOf(objectOf(body.context).communities);
  const entries = entriesOf(communities.find(({ id }) => id === community.id) ?? {});
  return entries.find(
    (entry) =>
      entry.author === community.handle &&
      Date.parse(String(entry.createdAt)) > community.asOfMs &&
      !writtenIds.has(String(entry.id)) &&
      Object.entries(fields).every(([name, value]) => String(entry[name]).trim() === value.trim()),
  );
}

function onlyNoAnswer(error: unknown): NoAnswer {
  if (error instanceof NoAnswer) {
    return error;
  }
  throw error;
}
