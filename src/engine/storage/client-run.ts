// Runs as their clients see them: one, lists by filters, and those that a client cancels at once.

import { type Expression, type RawBuilder, sql } from "kysely";
import { uuidArray } from "../../platform/database/binary-array.ts";
import type { Db, Transaction } from "../../platform/database/database.ts";
import {
  type BoundedPage,
  type PageCut,
  type RowPage,
  readBound,
  readBoundedPage,
  readPage,
} from "../../platform/database/row-page.ts";
import { activeStatuses, type RunWithoutInput, runIsActive, runSelectionWithoutInput } from "./run.ts";
import {
  type Candidates,
  type Change,
  candidatesByChange,
  candidatesById,
  comparePlaces,
  isOfSession,
  matches,
  microseconds,
  narrow,
  type PartByChange,
  partsByChange,
  placeOf,
  type RunFilter,
} from "./run-filter.ts";
import type { RunTable } from "./schema.ts";

/** A run as its client sees it, with the public id of its session. */
export interface ClientRun extends RunWithoutInput {
  readonly session_name: string;
  /** Null in a row of an older version, which has its `input` here instead. */
  readonly input_excerpt: string | null;
  readonly input: Uint8Array | null;
  /** Null for annotations that are too long for a list, too. */
  readonly annotations: string | null;
}

/** The maximum length of annotations in a list. */
const annotationsBytesMax = 1_024;

/** Returns a run of a client; undefined for an unknown id and for a run of another client. Of an output, 0 characters mean all. */
export async function findClientRun(
  db: Db | Transaction,
  args: { client: string; id: string; outputCharsMax?: number },
): Promise<ClientRun | undefined> {
  return await visibleRuns(db, args.outputCharsMax)
    .where("run.client", "=", args.client)
    .where("run.id", "=", args.id)
    .executeTakeFirst();
}

/** A page of a list, newest first. */
export interface RunPage {
  /** The place after which the page begins: the `next` of the page before; undefined for the first page. */
  readonly before: string | undefined;
  readonly limit: number;
  /** How much of each output is needed; 0 and unset mean all. */
  readonly outputCharsMax?: number;
}

/** Returns runs of a client, newest first. Reads a bounded number of them, and results may be large: a page may be short or empty. */
export async function listClientRuns(db: Db, asked: RunFilter, page: RunPage): Promise<BoundedPage<ClientRun>> {
  const filter = narrow(asked);
  if (filter === undefined) {
    return { rows: [], next: undefined };
  }
  const candidates = candidatesById(filter, page.before);
  const query = selectAmong(db, filter, candidates, page);
  const cut = { ...cutOf(candidates, page), order: sql`id desc`, placeOf: ({ id }: ClientRun) => id };
  return await readBoundedPage(db, query, cut);
}

/** Reads as many of the runs of a query as fit into a page. */
export async function readRunPage<Row>(
  db: Db,
  query: Expression<Row>,
  cut: Omit<PageCut, "body">,
): Promise<RowPage<Row>> {
  return await readPage(db, query, { ...cut, body: "terminal" });
}

/** A run with the time of its last change. */
export type ChangedRun = ClientRun & Change;

/**
 * Returns runs of a client, the newest change first. Reads the active runs, and a bounded number of ended ones. A page may be short or
 * empty, as in `listClientRuns`.
 */
export async function listChangedRuns(db: Db, asked: RunFilter, page: RunPage): Promise<BoundedPage<ChangedRun>> {
  const filter = narrow(asked);
  const parts: BoundedPage<ChangedRun>[] = [];
  for (const part of filter === undefined ? [] : partsByChange(filter)) {
    parts.push(await readPart(db, part, page));
  }
  const rows = parts.flatMap((part) => part.rows).toSorted((one, other) => comparePlaces(placeOf(one), placeOf(other)));
  // After the end of a part that goes on, the rows of the other part may come too early.
  const [end] = parts.flatMap(({ next = [] }) => next).toSorted(comparePlaces);
  const known = end === undefined ? rows : rows.filter((row) => comparePlaces(placeOf(row), end) <= 0);
  const shown = known.slice(0, page.limit);
  const last = shown.at(-1);
  return { rows: shown, next: last !== undefined && known.length > shown.length ? placeOf(last) : end };
}

async function readPart(db: Db, { filter, changeTime }: PartByChange, page: RunPage): Promise<BoundedPage<ChangedRun>> {
  const candidates = candidatesByChange(filter, changeTime, page.before);
  const query = selectAmong(db, filter, candidates, page).select(microseconds(changeTime).as("changed_us"));
  return await readBoundedPage(db, query, {
    ...cutOf(candidates, page),
    order: sql`changed_us desc, id desc`,
    placeOf,
  });
}

/** Counts the runs that match a filter among the `countMax` active and ended ones that a list by the last change reads first. */
export async function countClientRuns(db: Db, asked: RunFilter, countMax: number): Promise<number> {
  const filter = narrow(asked);
  let count = 0;
  for (const part of filter === undefined ? [] : partsByChange(filter)) {
    const candidates = candidatesByChange(part.filter, part.changeTime, undefined);
    const { length } = await visibleRuns(db, 0, firstOf(candidates, sql`limit (select ${sql.lit(countMax)})`))
      .clearSelect()
      .select(sql<number>`count(*)`.as("length"))
      .where(matches(part.filter))
      .executeTakeFirstOrThrow();
    count += length;
  }
  return Math.min(count, countMax);
}

/** Selects what matches among as many runs as a page may read. */
function selectAmong(db: Db, filter: RunFilter, candidates: Candidates, { limit, outputCharsMax }: RunPage) {
  return visibleRuns(db, outputCharsMax, firstOf(candidates, readBound(limit).limit))
    .where(matches(filter))
    .orderBy(sql`run.first desc, ${candidates.order}`)
    .limit(limit + 1);
}

function firstOf({ first, condition, order }: Candidates, limit: RawBuilder<unknown>): RawBuilder<RunTable> {
  return sql<RunTable>`(select run.*, ${first} as first from run where ${condition} order by first desc, ${order} ${limit})`;
}

function cutOf({ first, condition, order, place }: Candidates, { limit }: RunPage) {
  const edge = sql`
    select (${place})::text from run where ${condition} order by ${first} desc, ${order} ${readBound(limit).edge}`;
  return { body: "terminal", limit, edge };
}

/** What a watch compares. */
export type WatchedRun = Pick<
  ClientRun,
  "id" | "status" | "turn" | "takeovers" | "wait_reason" | "cancel_request_time" | "end_time"
>;

const watchedColumns = [
  "run.id",
  "run.status",
  "run.turn",
  "run.takeovers",
  "run.wait_reason",
  "run.cancel_request_time",
  "run.end_time",
] as const;

/** Returns the active runs of a client, and those that ended at or after a time, in the order of their ends. */
export async function listRunsToWatch(
  db: Db,
  { client, sessionName, endedSince, limit }: Pick<RunFilter, "client" | "sessionName"> & WatchedSince,
): Promise<{ readonly active: readonly WatchedRun[]; readonly ended: readonly WatchedRun[] }> {
  if (narrow({ client, sessionName }) === undefined) {
    return { active: [], ended: [] };
  }
  let active = db
    .selectFrom("run")
    .select(watchedColumns)
    .where(sql`run.client collate "C"`, "=", client)
    .where(runIsActive)
    .where("run.delete_time", "is", null)
    .orderBy("run.id", "desc")
    .limit(limit);
  // Without the sessions: for a time that it does not know, the planner expects a third of the runs, and would read all sessions.
  let ended = db
    .selectFrom("run")
    .select(watchedColumns)
    .where(sql`run.client collate "C"`, "=", client)
    .where("run.end_time", ">=", endedSince)
    .where("run.delete_time", "is", null)
    .orderBy("run.end_time")
    .limit(limit);
  if (sessionName !== undefined) {
    active = active.where(isOfSession(client, sessionName));
    ended = ended.where(isOfSession(client, sessionName));
  }
  return { active: await active.execute(), ended: await ended.execute() };
}

/** Returns those of the runs that are not deleted, in any order. Of an output, 0 characters mean all. */
export async function findVisibleRuns(db: Db, ids: readonly string[], outputCharsMax: number): Promise<ClientRun[]> {
  return await visibleRuns(db, outputCharsMax)
    .where(({ eb }) => eb("run.id", "=", sql<string>`any(${uuidArray(ids)}::uuid[])`))
    .execute();
}

/** What a look of a watch reads. */
interface WatchedSince {
  readonly endedSince: Date;
  /** The maximum of each kind. */
  readonly limit: number;
}

/** Returns the ids of active runs without a cancel request, newest first. `states` of the filter does not apply. */
export async function listRunsToCancel(db: Db, asked: RunFilter, page: RunPage): Promise<BoundedPage<{ id: string }>> {
  const filter = narrow({ ...asked, states: activeStatuses });
  if (filter === undefined) {
    return { rows: [], next: undefined };
  }
  const candidates = candidatesById(filter, page.before);
  const query = selectAmong(db, filter, candidates, page)
    .clearSelect()
    .select(["run.id", "run.terminal"])
    .where("run.cancel_request_time", "is", null);
  return await readBoundedPage(db, query, { ...cutOf(candidates, page), order: sql`id desc`, placeOf: ({ id }) => id });
}

/**
 * Locks those of the runs that are active and have no cancel request, and returns their ids. Waits for other transactions, or
 * skips the runs that they have locked.
 */
export async function lockRunsToCancel(
  trx: Transaction,
  { ids, skipLocked }: { ids: readonly string[]; skipLocked: boolean },
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from run where id = any(${uuidArray(ids)}::uuid[]) and ${runIsActive} and cancel_request_time is null
    for update${skipLocked ? sql` skip locked` : sql``}`.execute(trx);
  return rows.map(({ id }) => id);
}

const columnsButTerminal = runSelectionWithoutInput.filter((column) => column !== "run.terminal");
/** More than the fields of a terminal result take before its output. */
const beforeOutputBytes = 16_384;
const bytesMax = 2 ** 31 - 1;

/**
 * Selects runs as their clients see them: all, or those of a query. For a part of the output, Postgres reads the beginning of a large
 * terminal result alone.
 */
export function visibleRuns(db: Db | Transaction, outputCharsMax = 0, source = sql<RunTable>`run`) {
  const terminalBytesMax = outputCharsMax === 0 ? bytesMax : Math.min(beforeOutputBytes + 4 * outputCharsMax, bytesMax);
  return (
    db
      .selectFrom(source.as("run"))
      .select(columnsButTerminal)
      .select(
        sql<Uint8Array | null>`
        case when octet_length(run.terminal) > ${terminalBytesMax}::int
          then substring(run.terminal from 1 for ${terminalBytesMax}::int) else run.terminal end`.as("terminal"),
      )
      // For each run by itself: the planner would read all sessions for a join.
      .select(sql<string>`(select name from session where session.id = run.session)`.as("session_name"))
      .select("run.input_excerpt")
      .select(sql<Uint8Array | null>`case when run.input_excerpt is null then run.input end`.as("input"))
      .select(
        sql<
          string | null
        >`case when octet_length(run.annotations) <= ${sql.lit(annotationsBytesMax)} then run.annotations end`.as(
          "annotations",
        ),
      )
      .where("run.delete_time", "is", null)
  );
}
