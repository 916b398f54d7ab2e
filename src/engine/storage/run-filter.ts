// Which runs a list reads: those that match a filter, among the runs of the index that has the fewest that may match.

import { type Expression, type RawBuilder, type SqlBool, sql } from "kysely";
import { highestUuid, lowestUuid } from "../../platform/base/ids.ts";
import { textArray } from "../../platform/database/binary-array.ts";
import { isStorableText } from "../../platform/database/database.ts";
import { activeStatuses, isActive, runIsActive } from "./run.ts";
import type { RunStatus } from "./schema.ts";

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

/**
 * Returns the filter with the states that it implies: only a run that failed or was cancelled has a failure. Undefined when no run
 * matches, also because Postgres stores no such text.
 */
export function narrow(filter: RunFilter): RunFilter | undefined {
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

/** Returns the same statement for all combinations of filters: connections prepare a limited number of statements. */
export function matches(filter: RunFilter): Expression<SqlBool> {
  const { client, sessionName = null, parentRunId = null, rootRunId = null } = filter;
  const { states, createTimeFrom, createTimeTo, agentName, runnerId, model, errorContains } = filter;
  const { failureCode, failureCodeNot, changeTimeFrom, changeTimeTo } = filter;
  const among = states === undefined ? null : textArray(states);
  // Arrays of one, because the planner would leave a column that equals a value out of the order of the candidates, and sort them all.
  return sql<SqlBool>`
    run.client = any(array[${client}::text])
    and (${sessionName}::text is null or run.session = any(array[${idOfSession(client, sessionName ?? "")}]))
    and (${parentRunId}::uuid is null or run.parent_run_id = any(array[${parentRunId}::uuid]))
    and (${rootRunId}::uuid is null or run.root_run_id = any(array[${rootRunId}::uuid]))
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

/** Runs of a filter whose last change is in the same columns. */
export interface PartByChange {
  readonly filter: RunFilter;
  readonly changeTime: RawBuilder<Date>;
}

const codeOfFailure = sql`split_part(coalesce(run.failure, ''), chr(10), 1)`;
const changeOfActive = sql<Date>`coalesce(run.change_time, run.start_time, run.create_time)`;

export function partsByChange(filter: RunFilter): readonly PartByChange[] {
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
export interface Candidates extends IndexedRuns {
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

export function candidatesById(filter: RunFilter, before: string | undefined): Candidates {
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

export function candidatesByChange(
  filter: RunFilter,
  changeTime: RawBuilder<Date>,
  before: string | undefined,
): Candidates {
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

/** The last change of a run. */
export interface Change {
  readonly id: string;
  /** Microseconds since 1970: the precision of the database. */
  readonly changed_us: number;
}

export function placeOf({ changed_us, id }: Change): string {
  return `${changed_us} ${id}`;
}

/** Returns the place after which no run has changed at the time or later. */
function startOf(time: Date): string {
  return placeOf({ changed_us: time.getTime() * 1_000, id: lowestUuid(0) });
}

function readPlace(place: string): Change {
  const [changedUs, id = ""] = place.split(" ");
  return { changed_us: Number(changedUs), id };
}

/** Compares places of a list by the last change: newest first. */
export function comparePlaces(one: string, other: string): number {
  const [first, second] = [readPlace(one), readPlace(other)];
  return second.changed_us - first.changed_us || (first.id === second.id ? 0 : first.id < second.id ? 1 : -1);
}

export function microseconds(time: RawBuilder<Date>): RawBuilder<number> {
  return sql<number>`(extract(epoch from ${time}) * 1000000)::int8`;
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
