// Runs as their clients see them: one, lists by filters, and those that a client cancels at once.

import { type Expression, type RawBuilder, type SqlBool, sql } from "kysely";
import { lowestUuid } from "../../platform/base/ids.ts";
import { textArray, uuidArray } from "../../platform/database/binary-array.ts";
import { type Db, isStorableText, type Transaction } from "../../platform/database/database.ts";
import { type PageCut, type RowPage, readPage } from "../../platform/database/row-page.ts";
import { activeStatuses, isActive, type RunWithoutInput, runIsActive, runSelectionWithoutInput } from "./run.ts";
import type { RunStatus } from "./schema.ts";

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
  /** The last run of the page before; undefined for the first page. */
  readonly before: string | undefined;
  readonly limit: number;
  /** How much of each output is needed; 0 and unset mean all. */
  readonly outputCharsMax?: number;
}

/** Returns runs of a client, newest first. Results may be large, so a page may be short. */
export async function listClientRuns(
  db: Db,
  filter: RunFilter,
  { limit, ...page }: RunPage,
): Promise<RowPage<ClientRun>> {
  if (!isSatisfiable(filter)) {
    return { rows: [], hasMore: false };
  }
  return await readRunPage(db, selectRuns(db, filter, { ...page, limit: limit + 1 }), { order: sql`id desc`, limit });
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

/** A page of a list by the last change, newest first. */
export interface ChangedRunPage {
  /** The last run of the page before; undefined for the first page. */
  readonly before: Pick<ChangedRun, "id" | "changed_us"> | undefined;
  readonly limit: number;
  /** As in `RunPage`. */
  readonly outputCharsMax?: number;
}

/**
 * Returns runs of a client, the newest change first. Reads the active runs, and as many ended ones as a page has. Results may be
 * large, so a page may be short.
 */
export async function listChangedRuns(
  db: Db,
  filter: RunFilter,
  { before, limit, outputCharsMax }: ChangedRunPage,
): Promise<RowPage<ChangedRun>> {
  const pages: RowPage<ChangedRun>[] = [];
  for (const part of isSatisfiable(filter) ? partsByChange(filter) : []) {
    let query = selectChanged(db, filter, part, outputCharsMax)
      .select(sql<number>`(extract(epoch from ${part.changeTime}) * 1000000)::int8`.as("changed_us"))
      .orderBy(part.changeTime, "desc")
      .orderBy("run.id", "desc")
      .limit(limit + 1);
    if (before !== undefined) {
      const time = sql`timestamptz 'epoch' + ${before.changed_us}::int8 * interval '1 microsecond'`;
      query = query.where(sql<SqlBool>`(${part.changeTime}, run.id) < (${time}, ${before.id}::uuid)`);
    }
    pages.push(await readRunPage(db, query, { order: sql`changed_us desc, id desc`, limit }));
  }
  const rows = pages.flatMap((page) => page.rows).toSorted(newestFirst);
  // After the end of a part that has more, the rows of the other part may come too early.
  const ends = pages.flatMap((page) => (page.hasMore ? page.rows.slice(-1) : [])).map((row) => rows.indexOf(row) + 1);
  const length = Math.min(limit, rows.length, ...ends);
  return { rows: rows.slice(0, length), hasMore: ends.length > 0 || rows.length > length };
}

function newestFirst(one: ChangedRun, other: ChangedRun): number {
  return other.changed_us - one.changed_us || (one.id < other.id ? 1 : -1);
}

/** Counts the runs that match a filter, up to `countMax`. */
export async function countClientRuns(db: Db, filter: RunFilter, countMax: number): Promise<number> {
  let count = 0;
  for (const part of isSatisfiable(filter) ? partsByChange(filter) : []) {
    const matching = selectChanged(db, filter, part).clearSelect().select("run.id").limit(countMax).as("matching");
    const { length } = await db
      .selectFrom(matching)
      .select(sql<number>`count(*)`.as("length"))
      .executeTakeFirstOrThrow();
    count += length;
  }
  return Math.min(count, countMax);
}

/** Runs that one index has in the order of their last change; that of active runs is small. */
interface PartByChange {
  readonly condition: Expression<SqlBool>;
  readonly changeTime: RawBuilder<Date>;
}

const codeOfFailure = sql`split_part(coalesce(run.failure, ''), chr(10), 1)`;
const changeOfActive = sql<Date>`coalesce(run.change_time, run.start_time, run.create_time)`;

function partsByChange({ states }: RunFilter): readonly PartByChange[] {
  const active = states?.filter(isActive) ?? activeStatuses;
  const ended = states?.filter((status) => !isActive(status)) ?? endStatuses;
  return [
    ...(active.length > 0
      ? [{ condition: among(active, activeStatuses, runIsActive), changeTime: changeOfActive }]
      : []),
    ...(ended.length > 0
      ? [{ condition: among(ended, endStatuses, sql`run.end_time is not null`), changeTime: sql<Date>`run.end_time` }]
      : []),
  ];
}

const endStatuses = ["completed", "failed", "cancelled"] as const satisfies readonly RunStatus[];

/**
 * Returns the condition of an index, without the other statuses where they are not all. A rarer end has an index of its own. To name the
 * statuses themselves would be wrong: by the statistics of a table without one of them the planner expects no row, and reads all to sort
 * them.
 */
function among(
  statuses: readonly RunStatus[],
  all: readonly RunStatus[],
  ofIndex: RawBuilder<SqlBool>,
): RawBuilder<SqlBool> {
  const others = all.filter((status) => !statuses.includes(status)).map((status) => sql.lit(status));
  if (others.length === 0) {
    return ofIndex;
  }
  return rareEndOf(statuses) ?? sql<SqlBool>`${ofIndex} and run.status not in (${sql.join(others)})`;
}

/** Returns the condition of the indexes of an end that few runs have; undefined for other statuses. */
function rareEndOf(statuses: readonly RunStatus[] = []): RawBuilder<SqlBool> | undefined {
  const [only] = statuses.length === 1 ? statuses : [];
  return only === "failed" || only === "cancelled" ? sql<SqlBool>`run.status in (${sql.lit(only)})` : undefined;
}

/** By its id, for the index of a session's runs. */
function isOfSession(client: string, sessionName: string): RawBuilder<SqlBool> {
  return sql<SqlBool>`run.session = (
    select id from session where client = ${client} and name = ${sessionName} and delete_time is null)`;
}

function selectChanged(db: Db, filter: RunFilter, { condition, changeTime }: PartByChange, outputCharsMax = 0) {
  const { client, sessionName, changeTimeFrom, changeTimeTo, parentRunId, rootRunId } = filter;
  const ofOtherColumns = { ...filter, states: undefined, changeTimeFrom: undefined, changeTimeTo: undefined };
  let query = visibleRuns(db, outputCharsMax).where(sql`run.client collate "C"`, "=", client).where(condition);
  // Filters that match everything would make a match look rare to the planner, which then sorts all runs.
  if (hasFilters(ofOtherColumns)) {
    query = query.where(matches(ofOtherColumns));
  }
  if (sessionName !== undefined) {
    query = query.where(isOfSession(client, sessionName));
  }
  if (changeTimeFrom !== undefined) {
    query = query.where(changeTime, ">=", changeTimeFrom);
  }
  if (changeTimeTo !== undefined) {
    query = query.where(changeTime, "<", changeTimeTo);
  }
  if (parentRunId !== undefined) {
    query = query.where("run.parent_run_id", "=", parentRunId);
  }
  return rootRunId === undefined ? query : query.where("run.root_run_id", "=", rootRunId);
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
  if (!isSatisfiable({ client, sessionName })) {
    return { active: [], ended: [] };
  }
  const filter = { client, sessionName, states: activeStatuses };
  const active = selectRuns(db, filter, { before: undefined, limit }).clearSelect().select(watchedColumns);
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
export async function listRunsToCancel(db: Db, filter: RunFilter, page: RunPage): Promise<string[]> {
  if (!isSatisfiable(filter)) {
    return [];
  }
  const rows = await selectRuns(db, { ...filter, states: activeStatuses }, page)
    .where("run.cancel_request_time", "is", null)
    .clearSelect()
    .select("run.id")
    .execute();
  return rows.map(({ id }) => id);
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

/** Returns false when no run matches, because Postgres stores no such text. */
function isSatisfiable({ sessionName, agentName, runnerId, model, errorContains, ...rest }: RunFilter): boolean {
  const { failureCode, failureCodeNot } = rest;
  return [sessionName, agentName, runnerId, model, errorContains, failureCode, failureCodeNot].every(
    (text) => text === undefined || isStorableText(text),
  );
}

function selectRuns(db: Db, filter: RunFilter, { before, limit, outputCharsMax }: RunPage) {
  const { client, sessionName, states, parentRunId, rootRunId } = filter;
  // With this collation the planner takes the index of active runs, of a rare end or of a tree, not that of all runs of the client.
  const isActiveOnly = states?.every(isActive) === true;
  const rareEnd = rareEndOf(states);
  const isOfTree = parentRunId !== undefined || rootRunId !== undefined;
  const needsCollation = isActiveOnly || isOfTree || rareEnd !== undefined;
  let query = visibleRuns(db, outputCharsMax)
    .where(needsCollation ? sql`run.client collate "C"` : "run.client", "=", client)
    .orderBy("run.id", "desc")
    .limit(limit);
  if (parentRunId !== undefined) {
    query = query.where("run.parent_run_id", "=", parentRunId);
  }
  if (rootRunId !== undefined) {
    query = query.where("run.root_run_id", "=", rootRunId);
  }
  if (isActiveOnly) {
    query = query.where(runIsActive);
  }
  if (rareEnd !== undefined) {
    query = query.where(rareEnd);
  }
  // A deleted session may have the same name, and its runs do not belong to the new one.
  if (sessionName !== undefined) {
    query = query.where("session.name", "=", sessionName).where("session.delete_time", "is", null);
  }
  if (hasFilters(filter)) {
    query = query.where(matches(filter)).where("run.id", ">=", firstIdOf(filter));
  }
  const end = endIdOf(filter, before);
  return end === undefined ? query : query.where("run.id", "<", end);
}

const columnsButTerminal = runSelectionWithoutInput.filter((column) => column !== "run.terminal");
/** More than the fields of a terminal result take before its output. */
const beforeOutputBytes = 16_384;
const bytesMax = 2 ** 31 - 1;

/** Selects runs as their clients see them. For a part of the output, Postgres reads the beginning of a large terminal result alone. */
export function visibleRuns(db: Db | Transaction, outputCharsMax = 0) {
  const terminalBytesMax = outputCharsMax === 0 ? bytesMax : Math.min(beforeOutputBytes + 4 * outputCharsMax, bytesMax);
  return db
    .selectFrom("run")
    .innerJoin("session", "session.id", "run.session")
    .select(columnsButTerminal)
    .select(
      sql<Uint8Array | null>`
        case when octet_length(run.terminal) > ${terminalBytesMax}::int
          then substring(run.terminal from 1 for ${terminalBytesMax}::int) else run.terminal end`.as("terminal"),
    )
    .select(["session.name as session_name", "run.input_excerpt"])
    .select(sql<Uint8Array | null>`case when run.input_excerpt is null then run.input end`.as("input"))
    .select(
      sql<
        string | null
      >`case when octet_length(run.annotations) <= ${sql.lit(annotationsBytesMax)} then run.annotations end`.as(
        "annotations",
      ),
    )
    .where("run.delete_time", "is", null);
}

function hasFilters({ client: _, sessionName: __, parentRunId: ___, rootRunId: ____, ...filters }: RunFilter): boolean {
  return Object.values(filters).some((value) => value !== undefined);
}

/** Returns the same statement for all combinations of filters: connections prepare a limited number of statements. */
function matches(filter: RunFilter): Expression<SqlBool> {
  const { states, createTimeFrom, createTimeTo, agentName, runnerId, model, errorContains } = filter;
  const { failureCode, failureCodeNot, changeTimeFrom, changeTimeTo } = filter;
  const among = states === undefined ? null : textArray(states);
  return sql<SqlBool>`
    (${among}::text[] is null or run.status = any(${among}::text[]))
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

function firstIdOf({ createTimeFrom }: RunFilter): string {
  return lowestUuid(Math.max(0, (createTimeFrom?.getTime() ?? 0) - clockErrorMs));
}

/** Returns the id before which a page begins; undefined for no bound. */
function endIdOf({ createTimeTo }: RunFilter, before: string | undefined): string | undefined {
  const end = createTimeTo && lowestUuid(createTimeTo.getTime() + clockErrorMs);
  return before === undefined || (end !== undefined && end < before) ? end : before;
}
