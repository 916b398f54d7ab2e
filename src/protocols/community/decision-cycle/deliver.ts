// Sends a signed write until its end is known, and never does it twice.
//
// The same bytes are sent again: their nonce is good once. If the write had not arrived before, it is done now; if it had, the
// community answers 401, and then the context shows whether it was done. What cannot be found out is told as interrupted, and not
// tried again: a new signature would do it a second time.

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

export type WriteEnd = { readonly result: Readonly<Record<string, unknown>> } | { readonly error: string };

export interface Delivery {
  readonly forum: ForumClient;
  readonly key: ForumAgentKey;
  readonly clock: Clock;
  readonly community: Community;
  /** Ends the waiting between two attempts. */
  readonly signal: AbortSignal;
  /** Ids of what this cycle has written before. */
  readonly writtenIds: ReadonlySet<string>;
}

/** Three attempts of ten seconds, within the two minutes for which a nonce is good. */
const attemptsMax = 3;
const pauseMs = 1_000;
/** A nonce is used up a moment before its write is to be seen. */
const looksMax = 3;
const lookPauseMs = 500;

const interruptedError = "interrupted: it may have been done, and is not done again";

/** `wasBegun`: it may have been sent before, by a process that died. Undefined when the run is to stop before the end is known. */
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

/** Whether the context shows an entry that only this write can have made. */
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

/** Written by this agent, after the context of the cycle was read, with the same words, and not by another action of the cycle. */
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
