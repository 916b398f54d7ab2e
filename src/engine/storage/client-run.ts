// Runs as their clients see them: one, lists by filters, and those that a client cancels at once.

import { type Expression, type RawBuilder, type SqlBool, sql } from "kysely";
import { highestUuid, lowestUuid } from "../../platform/base/ids.ts";
import { textArray, uuidArray } from "../../platform/database/binary-array.ts";
import { type Db, isStorableText, type Transaction } from "../../platform/database/database.ts";
import {
  type BoundedPage,
  type PageCut,
  type RowPage,
  readBound,
  readBoundedPage,
  readPage,
} from "../../platform/database/row-page.ts";
import { activeStatuses, isActive, type RunWithoutInput, runIsActive, runSelectionWithoutInput } from "./run.ts";
import type { RunStatus, RunTable } from "./schema.ts";

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

/** Which runs of a client to select: those that match all filters that are set. */
export interface RunFilter {
  readonly client: string;
  /** The public id of a session that is not deleted. */
  readonly sessionName?: string | undefined;
  /** Unset means any. */
  readonly states?: readonly RunStatus[] | undefined;
  /** Inclusive. */
  readonly createTimeFrom?: Date | undefined;
  /** Exclusive. */
  readonly createTimeTo?: Date | undefined;
  readonly agentName?: string | undefined;
  readonly runnerId?: string | undefined;
  readonly model?: string | undefined;
  /** A text in the code or the message of the failure. */
  readonly errorContains?: string | undefined;
  /** The exact code of the failure. */
  readonly failureCode?: string | undefined;
  /** The exact code of a failure to leave out. */
  readonly failureCodeNot?: string | undefined;
  /** The earliest last change, inclusive. */
  readonly changeTimeFrom?: Date | undefined;
  /** The latest last change, exclusive. */
  readonly changeTimeTo?: Date | undefined;
  /** The run whose child runs to select. */
  readonly parentRunId?: string | undefined;
  /** The run at the top of the tree whose other runs to select. */
  readonly rootRunId?: string | undefined;
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
export interface ChangedRun extends ClientRun {
  /** Microseconds since 1970: the precision of the database. */
  readonly changed_us: number;
}

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

function placeOf({ changed_us, id }: Pick<ChangedRun, "changed_us" | "id">): string {
  return `${changed_us} ${id}`;
}

/** Returns the place after which no run has changed at the time or later. */
function startOf(time: Date): string {
  return placeOf({ changed_us: time.getTime() * 1_000, id: lowestUuid(0) });
}

function readPlace(place: string): Pick<ChangedRun, "changed_us" | "id"> {
  const [changedUs, id = ""] = place.split(" ");
  return { changed_us: Number(changedUs), id };
}

/** Compares places of a list by the last change: newest first. */
function comparePlaces(one: string, other: string): number {
  const [first, second] = [readPlace(one), readPlace(other)];
  return second.changed_us - first.changed_us || (first.id === second.id ? 0 : first.id < second.id ? 1 : -1);
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

/** Runs of a filter whose last change is in the same columns. */
interface PartByChange {
  readonly filter: RunFilter;
  readonly changeTime: RawBuilder<Date>;
}

const codeOfFailure = sql`split_part(coalesce(run.failure, ''), chr(10), 1)`;
const changeOfActive = sql<Date>`coalesce(run.change_time, run.start_time, run.create_time)`;

function partsByChange(filter: RunFilter): readonly PartByChange[] {
  const { states = [...activeStatuses, ...endStatuses] } = filter;
  const active = states.filter(isActive);
  const ended = states.filter((status) => !isActive(status));
  return [
    ...(active.length > 0 ? [{ filter: { ...filter, states: active }, changeTime: changeOfActive }] : []),
    ...(ended.length > 0 ? [{ filter: { ...filter, states: ended }, changeTime: sql<Date>`run.end_time` }] : []),
  ];
}

const endStatuses = ["completed", "failed", "cancelled"] as const satisfies readonly RunStatus[];

/** Runs in the order of one index. Filters apply to a bounded number of them, so the planner cannot choose another order. */
interface Candidates extends IndexedRuns {
  /** After the first column. */
  readonly order: RawBuilder<unknown>;
  /** Where a run is in the order. */
  readonly place: RawBuilder<unknown>;
}

/** Runs that one index has together. */
interface IndexedRuns {
  /** The first column of the index. As a part of the order, it leaves the planner no index but this one. */
  readonly first: RawBuilder<unknown>;
  readonly condition: RawBuilder<SqlBool>;
}

function candidatesById(filter: RunFilter, before: string | undefined): Candidates {
  const indexed = indexedRuns(filter, sql`run.client`);
  const end = endIdOf(filter, before);
  // Not two bounds of one column: the planner would expect few runs between them, and sort these.
  const range =
    filter.createTimeFrom === undefined
      ? sql`run.id < ${end}`
      : sql`run.id >= ${firstIdOf(filter.createTimeFrom)} and (run.id, 0) < (${end}::uuid, 0)`;
  const condition = sql<SqlBool>`${indexed.condition} and ${range}`;
  return { first: indexed.first, condition, order: sql`run.id desc`, place: sql`run.id` };
}

function candidatesByChange(filter: RunFilter, changeTime: RawBuilder<Date>, before: string | undefined): Candidates {
  const { states, changeTimeFrom, changeTimeTo } = filter;
  const { first, condition } = indexedRuns(filter, clientOfLists);
  const conditions = [condition];
  // A condition that the index of a rare end does not need would suggest that of all ends.
  if (rareEndOf(filter) === undefined && states?.every(isActive) !== true) {
    conditions.push(sql`run.end_time is not null`);
  }
  if (changeTimeFrom !== undefined) {
    conditions.push(sql`${changeTime} >= ${changeTimeFrom}`);
  }
  const bounds = [before, changeTimeTo && startOf(changeTimeTo)].filter((place) => place !== undefined);
  const end = bounds.toSorted(comparePlaces).at(-1);
  if (end !== undefined) {
    const { changed_us: us, id } = readPlace(end);
    const time = sql`timestamptz 'epoch' + ${us}::int8 * interval '1 microsecond'`;
    conditions.push(sql`(${changeTime}, run.id) < (${time}, ${id}::uuid)`);
  }
  const place = sql`${microseconds(changeTime)} || ' ' || run.id`;
  return { first, condition: sql.join(conditions, sql` and `), order: sql`${changeTime} desc, run.id desc`, place };
}

/** With the collation of the indexes that serve lists alone. */
const clientOfLists = sql`run.client collate "C"`;

/**
 * Returns the fewest runs of an index that may match: those of a tree, the active ones, those of a session, those of a rare end, or all of
 * the client.
 */
function indexedRuns(filter: RunFilter, clientOfAll: RawBuilder<unknown>): IndexedRuns {
  const { client, sessionName, states, parentRunId, rootRunId } = filter;
  if (parentRunId !== undefined) {
    return startingWith(sql`run.parent_run_id`, sql`${parentRunId}::uuid`);
  }
  if (rootRunId !== undefined) {
    return startingWith(sql`run.root_run_id`, sql`${rootRunId}::uuid`);
  }
  if (states?.every(isActive) === true) {
    return startingWith(clientOfLists, sql`${client}::text`, runIsActive);
  }
  if (sessionName !== undefined) {
    return startingWith(sql`run.session`, idOfSession(client, sessionName));
  }
  const rareEnd = rareEndOf(filter);
  return rareEnd === undefined
    ? startingWith(clientOfAll, sql`${client}::text`)
    : startingWith(clientOfLists, sql`${client}::text`, sql`run.status in (${sql.lit(rareEnd)})`);
}

/** An array of one, because the planner would leave a column that equals a value out of the order. */
function startingWith(first: RawBuilder<unknown>, value: RawBuilder<unknown>, ...others: RawBuilder<unknown>[]) {
  return { first, condition: sql.join<SqlBool>([sql`${first} = any(array[${value}])`, ...others], sql` and `) };
}

/** Returns the end of the runs that a filter selects among all of the client, when few have it; undefined for other filters. */
function rareEndOf({ states, sessionName, parentRunId, rootRunId }: RunFilter): "failed" | "cancelled" | undefined {
  const [only, ...others] = states ?? [];
  const isAmongAll = sessionName === undefined && parentRunId === undefined && rootRunId === undefined;
  return isAmongAll && others.length === 0 && (only === "failed" || only === "cancelled") ? only : undefined;
}

/** By its id, for the index of a session's runs. A deleted session may have the same name, and its runs do not belong to the new one. */
export function isOfSession(client: string, sessionName: string): RawBuilder<SqlBool> {
  return sql<SqlBool>`run.session = ${idOfSession(client, sessionName)}`;
}

function idOfSession(client: string, sessionName: string): RawBuilder<unknown> {
  return sql`(select id from session where client = ${client} and name = ${sessionName} and delete_time is null)`;
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

function microseconds(time: RawBuilder<Date>): RawBuilder<number> {
  return sql<number>`(extract(epoch from ${time}) * 1000000)::int8`;
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

/**
 * Returns the filter with the states that it implies: only a run that failed or was cancelled has a failure. Undefined when no run
 * matches, also because Postgres stores no such text.
 */
function narrow(filter: RunFilter): RunFilter | undefined {
  const { sessionName, agentName, runnerId, model, errorContains, failureCode, failureCodeNot } = filter;
  const texts = [sessionName, agentName, runnerId, model, errorContains, failureCode, failureCodeNot];
  if (!texts.every((text) => text === undefined || isStorableText(text))) {
    return undefined;
  }
  if (failureCode === undefined && errorContains === undefined) {
    return filter;
  }
  const states = (["failed", "cancelled"] as const).filter((status) => filter.states?.includes(status) !== false);
  return states.length === 0 ? undefined : { ...filter, states };
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

/** Returns the same statement for all combinations of filters: connections prepare a limited number of statements. */
function matches(filter: RunFilter): Expression<SqlBool> {
  const { client, sessionName = null, parentRunId = null, rootRunId = null } = filter;
  const { states, createTimeFrom, createTimeTo, agentName, runnerId, model, errorContains } = filter;
  const { failureCode, failureCodeNot, changeTimeFrom, changeTimeTo } = filter;
  const among = states === undefined ? null : textArray(states);
  return sql<SqlBool>`
    run.client = ${client}
    and (${sessionName}::text is null or ${isOfSession(client, sessionName ?? "")})
    and (${parentRunId}::uuid is null or run.parent_run_id = ${parentRunId}::uuid)
    and (${rootRunId}::uuid is null or run.root_run_id = ${rootRunId}::uuid)
    and (${among}::text[] is null or run.status = any(${among}::text[]))
    and run.create_time >= coalesce(${createTimeFrom ?? null}::timestamptz, '-infinity')
    and run.create_time < coalesce(${createTimeTo ?? null}::timestamptz, 'infinity')
    and coalesce(run.end_time, ${changeOfActive}) >= coalesce(${changeTimeFrom ?? null}::timestamptz, '-infinity')
    and coalesce(run.end_time, ${changeOfActive}) < coalesce(${changeTimeTo ?? null}::timestamptz, 'infinity')
    and coalesce(${agentName ?? null}::text, run.agent_name) is not distinct from run.agent_name
    and coalesce(${runnerId ?? null}::text, run.assigned_runner) is not distinct from run.assigned_runner
    and coalesce(${model ?? null}::text, run.model) is not distinct from run.model
    and coalesce(${failureCode ?? null}::text, ${codeOfFailure}) = ${codeOfFailure}
    and (${failureCodeNot ?? null}::text is null or ${codeOfFailure} <> ${failureCodeNot ?? null}::text)
    and strpos(lower(coalesce(run.failure, '')), lower(${errorContains ?? ""}::text)) > 0`;
}

/**
 * The maximum difference between the time in a run's id, by the clock of a replica, and its `create_time`, by that of the
 * database. Ids bound what a list by time reads.
 */
const clockErrorMs = 86_400_000;

function firstIdOf(createTimeFrom: Date): string {
  return lowestUuid(Math.max(0, createTimeFrom.getTime() - clockErrorMs));
}

/** Returns the id before which a page begins. */
function endIdOf({ createTimeTo }: RunFilter, before = highestUuid): string {
  const end = createTimeTo === undefined ? highestUuid : lowestUuid(createTimeTo.getTime() + clockErrorMs);
  return end < before ? end : before;
}
