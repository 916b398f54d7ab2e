// Watches of rows that change: looks at them once a second, and yields those that have changed. A whole row is sent each time, so
// a reader that gets one twice is not misled; no order of changes has to be kept.

import { readTimeMs } from "../platform/database/time.ts";
import type { ServiceDeps } from "./deps.ts";
import { live } from "./live.ts";

/** The time between two looks. */
const lookMs = 1_000;
/** How far a look goes back: a change is visible later than its time, but never later than a statement may take. */
const overlapMs = 15_000;
/** The maximum of rows of a kind in a look. */
export const rowsPerLook = 1_000;

/** What to watch, and how its rows become messages of a stream. */
export interface Watch<Row, Message> {
  readonly client: string;
  /** The scope of the cursors: a cursor is good for the same watch of the same client. */
  readonly scope: readonly string[];
  /** The cursor that the reader has reached; empty means now. */
  readonly after: string;
  /** Reads the open rows, and those that were settled since a time. */
  readonly look: (settledSince: Date) => Promise<Look<Row>>;
  readonly idOf: (row: Row) => string;
  /** Returns what the watch shows of a row, as a text. */
  readonly stateOf: (row: Row) => string;
  /** Returns when the row was settled; null for an open one. */
  readonly settledTimeOf: (row: Row) => Date | null;
  /** Returns the messages for rows that have changed, with the cursor after them. */
  readonly toMessages: (rows: readonly Row[], cursor: string) => Promise<readonly Message[]>;
  /** Returns the message that opens the stream and keeps it alive. */
  readonly empty: () => Message;
}

/** The rows of a look. */
export interface Look<Row> {
  readonly rows: readonly Row[];
  /** When the last settled row was settled, if there are more after it; undefined when these are all. */
  readonly moreAfter?: Date | undefined;
}

/**
 * Yields changes. Without a cursor the open rows come first; after a cursor also those that were settled since.
 * @throws Fault CURSOR_INVALID, CONCURRENCY_EXHAUSTED and RESUME.
 */
export async function* watch<Row, Message>(
  deps: ServiceDeps,
  watched: Watch<Row, Message>,
  reader: AbortSignal,
): AsyncGenerator<Message> {
  const after = deps.cursors.decode(watched.scope, watched.after, "after");
  using _open = deps.watches.open(watched.client);
  const sinceMs = after === undefined ? await readTimeMs(deps.db) : Number(after);
  // A reader that goes on may have missed rows that became visible late.
  const fromMs = after === undefined ? sinceMs : 0;
  const changes = live<readonly Message[]>({
    open: (signal) => follow(deps, watched, { sinceMs, fromMs, signal }),
    empty: () => [watched.empty()],
    clock: deps.clock,
    reader,
    drain: deps.drain,
  });
  for await (const messages of changes) {
    yield* messages;
  }
}

async function* follow<Row, Message>(
  { db, clock, cursors }: ServiceDeps,
  { scope, look, idOf, stateOf, settledTimeOf, toMessages }: Watch<Row, Message>,
  { sinceMs, fromMs, signal }: { sinceMs: number; fromMs: number; signal: AbortSignal },
): AsyncGenerator<readonly Message[]> {
  let reachedMs = sinceMs;
  let known = new Map<string, string>();
  while (!signal.aborted) {
    const nowMs = await readTimeMs(db);
    const { rows, moreAfter } = await look(new Date(reachedMs - overlapMs));
    const changed = rows.filter(
      (row) => known.get(idOf(row)) !== stateOf(row) && (settledTimeOf(row)?.getTime() ?? nowMs) >= fromMs,
    );
    // What a look does not see was settled before it, or is deleted.
    known = new Map(rows.map((row) => [idOf(row), stateOf(row)]));
    reachedMs = moreAfter === undefined ? nowMs : moreAfter.getTime() + overlapMs;
    if (changed.length > 0) {
      yield await toMessages(changed, cursors.encode(scope, String(reachedMs)));
    }
    if (moreAfter === undefined) {
      await clock.sleep(lookMs, signal);
    }
  }
}
