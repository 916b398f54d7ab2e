// The only way to read a run live: stored entries first, then new ones, until the terminal result. Every reader gets the same
// entries in the same order, from any replica and at any speed. A reader in step has read everything and waits. If it has a sink,
// the broadcaster writes plain next results there and the generator sleeps on. It wakes for everything else: the end, a gap, a sink
// that refuses, or a check of the log.

import { failpoint } from "../../platform/base/failpoint.ts";
import { Fault } from "../../platform/base/fault.ts";
import { onAbort } from "../../platform/base/on-abort.ts";
import { mapSink, type Sink } from "../../platform/base/sink.ts";
import type { Db } from "../../platform/database/database.ts";
import { findRun, isActive } from "../storage/run.ts";
import {
  lastSequence,
  type PageResult,
  readPayload,
  readResultPage,
  type StoredResult,
} from "../storage/run-result.ts";
import type { Broadcaster } from "./broadcaster.ts";
import { cutText, cutTexts, headBytes } from "./cut-text.ts";
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
  /** How many characters it gets of a text that repeats earlier entries; unset and 0 mean all. */
  readonly textCharsMax?: number;
}

/**
 * Yields entries in order, in batches; ends after the terminal one, or when the signal aborts.
 * @throws Fault RUN_NOT_FOUND when the run does not exist any more; OFFSET_BEYOND_END when the run ended before `after`;
 * RESULTS_EXPIRED when its log is past its retention.
 */
export async function* tail(source: TailSource, request: TailRequest): AsyncGenerator<readonly LogEntry[]> {
  const { runId, signal, textCharsMax = 0 } = request;
  const cut = (entries: readonly LogEntry[]) => (textCharsMax === 0 ? entries : cutTexts(entries, textCharsMax));
  const sink = request.sink && textCharsMax > 0 ? mapSink(request.sink, cut) : request.sink;
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
      ({ entries, isAtEnd } = await readPage(source.db, { runId, after: cursor, textCharsMax }));
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
    yield cut(entries);
    if (last.terminal) {
      return;
    }
    cursor = last.sequence;
    subscription.seen(cursor);
  }
}

async function readPage(
  db: Db,
  { runId, after, textCharsMax }: { readonly runId: string; readonly after: number; readonly textCharsMax: number },
): Promise<{ readonly entries: LogEntry[]; readonly isAtEnd: boolean }> {
  const page = { runId, after, rowsMax: pageRowsMax, bytesMax: pageBytesMax };
  const rows = await readResultPage(db, { ...page, ...(textCharsMax > 0 && { headBytes: headBytes(textCharsMax) }) });
  const bytes = rows.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const isAtEnd = rows.length < pageRowsMax && bytes < pageBytesMax;
  const whole = rows.map((row) =>
    row.payload.length === row.sizeBytes ? row : complete(db, runId, row, textCharsMax),
  );
  return { entries: storedEntries(await Promise.all(whole)), isAtEnd };
}

/** Brings the rest of a result of which only the beginning was read, but for its long text. */
async function complete(
  db: Db,
  runId: string,
  { sequence, payload, sizeBytes }: PageResult,
  textCharsMax: number,
): Promise<StoredResult> {
  const cut = cutText(payload, textCharsMax);
  const rest = cut && (await readPayload(db, { runId, sequence, from: cut.restFrom }));
  // A purge between the two reads has made another result of it.
  if (cut !== undefined && rest?.length === sizeBytes - cut.restFrom) {
    return { sequence, payload: cut.join(rest) };
  }
  const whole = await readPayload(db, { runId, sequence, from: 0 });
  if (whole === undefined) {
    throw new Fault("RESULTS_EXPIRED", `the results of run ${runId} are no longer kept`);
  }
  return { sequence, payload: whole };
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
