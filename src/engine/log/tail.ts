// The one way to read a run as it happens: what is stored first, then what comes, until the terminal result. It gives
// every reader the same entries in the same order, whichever replica it asks and however slow it is. A reader that has
// everything and waits is in step: if it has a sink, what comes is put there by the hub, and its generator sleeps on. It is
// woken for all that is not a plain next result: the end, a gap, a sink that refuses, a look at the log.

import { failpoint } from "../../platform/base/failpoint.ts";
import { Fault } from "../../platform/base/fault.ts";
import { onAbort } from "../../platform/base/on-abort.ts";
import type { Sink } from "../../platform/base/sink.ts";
import type { Db } from "../../platform/database/database.ts";
import { findRun, isActive } from "../storage/run.ts";
import { lastSequence, readResultPage } from "../storage/run-result.ts";
import type { Hub } from "./hub.ts";
import { type LogEntry, storedEntries } from "./result.ts";

/** A page of the log: large enough to catch up at full speed … */
const pageRowsMax = 500;
/** … and small enough to be held for each of many readers that do not read. */
const pageBytesMax = 262_144;

export interface TailSource {
  readonly db: Db;
  readonly hub: Hub;
}

export interface TailRequest {
  readonly runId: string;
  /** Sequence of the last entry that the reader has. */
  readonly after: number;
  readonly signal: AbortSignal;
  /** Takes entries that are not yielded then, while the next ones are waited for. */
  readonly sink?: Sink<readonly LogEntry[]> | undefined;
}

/** Yields entries in order, in batches; ends after the terminal one, or when the signal aborts. */
export async function* tail(source: TailSource, request: TailRequest): AsyncGenerator<readonly LogEntry[]> {
  const { runId, signal, sink } = request;
  using watch = source.hub.watch(runId);
  using _leaving = onAbort(signal, () => watch.wake());
  let cursor = request.after;
  // What a reader claims to have may not exist yet.
  if (cursor > 0) {
    watch.seen(Math.min(cursor, await lastSequence(source.db, runId)));
  }
  // Once the log's last page was read, the hub tells what comes: asking the log again would cost a query for each reader
  // and result. What the hub knows may not be all that is in the log by then.
  let isAtEnd = false;
  while (!signal.aborted) {
    let entries = watch.live(cursor) ?? [];
    let looks = false;
    if (entries.length === 0 && (!isAtEnd || watch.isLookDue || watch.isBehind(cursor))) {
      looks = watch.takeLook();
      entries = await readPage(source.db, runId, cursor);
      isAtEnd = isLastPage(entries);
    }
    const last = entries.at(-1);
    if (last === undefined) {
      if (looks && (await hasEndedAt(source.db, runId, cursor))) {
        return;
      }
      if (!signal.aborted && !watch.isLookDue) {
        cursor = await watch.beyond(cursor, sink);
        // What a sink has refused is read when there is room for it, and not before.
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
    watch.seen(cursor);
  }
}

async function readPage(db: Db, runId: string, after: number): Promise<LogEntry[]> {
  return storedEntries(await readResultPage(db, { runId, after, rowsMax: pageRowsMax, bytesMax: pageBytesMax }));
}

function isLastPage(entries: readonly LogEntry[]): boolean {
  const bytes = entries.reduce((sum, entry) => sum + entry.bytes.length, 0);
  return entries.length < pageRowsMax && bytes < pageBytesMax;
}

/** A cursor that was at or beyond the end before the run ended would wait for ever. */
async function hasEndedAt(db: Db, runId: string, cursor: number): Promise<boolean> {
  const run = await findRun(db, runId);
  if (run === undefined || isActive(run.status)) {
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

export function beyondEnd(after: number, lastSequence: number): Fault {
  return new Fault("OFFSET_BEYOND_END", `after ${after} lies beyond the end: the run ended at ${lastSequence}`, {
    violations: [{ field: "after", description: `must be at most ${lastSequence}` }],
  });
}
