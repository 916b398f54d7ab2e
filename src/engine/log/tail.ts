// The only way to read a run live: stored entries first, then new ones, until the terminal result. Every reader gets the same
// entries in the same order, from any replica and at any speed. A reader in step has read everything and waits. If it has a sink,
// the broadcaster writes plain next results there and the generator sleeps on. It wakes for everything else: the end, a gap, a sink
// that refuses, or a check of the log.

import { failpoint } from "../../platform/base/failpoint.ts";
import { Fault } from "../../platform/base/fault.ts";
import { onAbort } from "../../platform/base/on-abort.ts";
import type { Sink } from "../../platform/base/sink.ts";
import type { Db } from "../../platform/database/database.ts";
import { findRun, isActive } from "../storage/run.ts";
import { lastSequence, readResultPage } from "../storage/run-result.ts";
import type { Broadcaster } from "./broadcaster.ts";
import { type LogEntry, storedEntries } from "./result.ts";

/** The maximum number of rows in a page of the log: large enough to catch up at full speed. */
const pageRowsMax = 500;
/** The maximum size of a page: small enough to be held for each of many readers that do not read. */
const pageBytesMax = 262_144;

/** Where a tail reads from. */
export interface TailSource {
  readonly db: Db;
  readonly broadcaster: Broadcaster;
}

/** A request to follow one run. */
export interface TailRequest {
  readonly runId: string;
  /** The sequence of the last entry that the reader has. */
  readonly after: number;
  readonly signal: AbortSignal;
  /** Takes entries while the reader waits; these entries are not yielded. */
  readonly sink?: Sink<readonly LogEntry[]> | undefined;
}

/**
 * Yields entries in order, in batches; ends after the terminal one, or when the signal aborts.
 * @throws Fault RUN_NOT_FOUND when the run does not exist any more; OFFSET_BEYOND_END when the run ended before `after`;
 * RESULTS_EXPIRED when its log is past its retention.
 */
export async function* tail(source: TailSource, request: TailRequest): AsyncGenerator<readonly LogEntry[]> {
  const { runId, signal, sink } = request;
  using subscription = source.broadcaster.subscribe(runId);
  using _leaving = onAbort(signal, () => subscription.wake());
  let cursor = request.after;
  // The reader may claim entries that do not exist yet.
  if (cursor > 0) {
    subscription.seen(Math.min(cursor, await lastSequence(source.db, runId)));
  }
  // After the last page of the log, the broadcaster announces new entries: reading the log again would cost a query for each reader
  // and result. The broadcaster's entries may not be all that is in the log by then.
  let isAtEnd = false;
  while (!signal.aborted) {
    let entries = subscription.live(cursor) ?? [];
    let looks = false;
    if (entries.length === 0 && (!isAtEnd || subscription.isLookDue || subscription.isBehind(cursor))) {
      looks = subscription.takeLook();
      entries = await readPage(source.db, runId, cursor);
      isAtEnd = isLastPage(entries);
    }
    const last = entries.at(-1);
    if (last === undefined) {
      if (looks && (await hasEndedAt(source.db, runId, cursor))) {
        return;
      }
      if (!signal.aborted && !subscription.isLookDue) {
        cursor = await subscription.beyond(cursor, sink);
        // What a sink refused is read only when there is room for it.
        await sink?.drained(signal);
      }
      continue;
    }
    failpoint("tail.yielding");
    yield entries;
    if (last.terminal) {
      return;
    }
    cursor = last.sequence;
    subscription.seen(cursor);
  }
}

async function readPage(db: Db, runId: string, after: number): Promise<LogEntry[]> {
  return storedEntries(await readResultPage(db, { runId, after, rowsMax: pageRowsMax, bytesMax: pageBytesMax }));
}

function isLastPage(entries: readonly LogEntry[]): boolean {
  const bytes = entries.reduce((sum, entry) => sum + entry.bytes.length, 0);
  return entries.length < pageRowsMax && bytes < pageBytesMax;
}

/** Returns whether the run has ended exactly at the cursor: such a reader would wait without end. */
async function hasEndedAt(db: Db, runId: string, cursor: number): Promise<boolean> {
  const run = await findRun(db, runId);
  if (run === undefined) {
    throw new Fault("RUN_NOT_FOUND", "run not found");
  }
  if (isActive(run.status)) {
    return false;
  }
  if (run.last_sequence < cursor) {
    throw beyondEnd(cursor, run.last_sequence);
  }
  if (run.last_sequence > cursor && (await lastSequence(db, runId)) === 0) {
    throw new Fault("RESULTS_EXPIRED", `the results of run ${runId} are no longer kept`);
  }
  return run.last_sequence === cursor;
}

/** Returns the fault for a cursor beyond the last entry of an ended run. */
export function beyondEnd(after: number, lastSequence: number): Fault {
  return new Fault("OFFSET_BEYOND_END", `after ${after} is beyond the end: the run ended at ${lastSequence}`, {
    violations: [{ field: "after", description: `must be at most ${lastSequence}` }],
  });
}
