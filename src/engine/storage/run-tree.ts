// The trees of runs. A tool call of a run, the parent, starts a child run. The rows of `tree_check` name runs whose place in a tree
// has to be looked at: they are written with the change, and deleted after the look.

import { type RawBuilder, sql } from "kysely";
import { int8Array } from "../../platform/database/binary-array.ts";
import type { Db, Transaction } from "../../platform/database/database.ts";
import { openApprovals, runIsActive } from "./run.ts";
import type { ChildSession } from "./run-start.ts";

/** What the child runs of a run get from it. */
export interface ParentRun extends Pick<ChildSession, "parentSession"> {
  readonly client: string;
  readonly rootRunId: string;
  readonly depth: number;
  readonly priority: number;
  readonly traceParent: string | null;
  readonly timeLeftMs: number;
  readonly workDir: string | null;
  readonly callback: Uint8Array | null;
}

/** Returns a run as the parent of new runs. */
export async function readParentRun(trx: Transaction, id: string): Promise<ParentRun> {
  const { rows } = await sql<ParentRun>`
    select run.client, coalesce(root_run_id, run.id) as "rootRunId", depth, priority, trace_parent as "traceParent",
      (extract(epoch from deadline - clock_timestamp()) * 1000)::float8 as "timeLeftMs",
      session.id as "parentSession", work_dir as "workDir", callback
    from run join session on session.id = run.session where run.id = ${id}`.execute(trx);
  return rows[0] as ParentRun;
}

/** Links a call to the run that it has started. */
export async function setChildOfCall(
  trx: Transaction,
  { runId, turn, position, childRunId }: { runId: string; turn: number; position: number; childRunId: string },
): Promise<void> {
  await sql`
    update tool_call set child_run_id = ${childRunId}
    where run_id = ${runId} and turn = ${turn} and position = ${position}`.execute(trx);
}

/** The place of a run in its tree. */
export interface TreePlace {
  /** The number of runs above it. */
  readonly depth: number;
  /** The number of child runs in the whole tree, counted up to `runsMax`. */
  readonly runs: number;
}

/** Returns the place of a run. */
export async function readTreePlace(
  db: Db,
  { runId, runsMax }: { runId: string; runsMax: number },
): Promise<TreePlace> {
  const { rows } = await sql<TreePlace>`
    select depth, (
      select count(*)::float8 from (select from run as other where other.root_run_id = coalesce(run.root_run_id, run.id) limit ${sql.lit(runsMax)}) as counted
    ) as runs from run where id = ${runId}`.execute(db);
  return rows[0] as TreePlace;
}

/** A child run, as a run of the parent's session may continue it. */
export interface ContinuedRun {
  readonly session: string;
  readonly isOver: boolean;
}

/** Returns a child run of a session's runs; undefined for any other run, and when its session is deleted. */
export async function findChildOfSession(
  db: Db | Transaction,
  { runId, parentSession }: { runId: string; parentSession: string },
): Promise<ContinuedRun | undefined> {
  const { rows } = await sql<ContinuedRun>`
    select session.id as session, not exists (
      select from run where run.session = session.id and ${runIsActive}
    ) as "isOver"
    from run join session on session.id = run.session
    where run.id = ${runId} and session.parent_session = ${parentSession} and session.delete_time is null`.execute(db);
  return rows[0];
}

/** A call that has started a run, and the end of that run and of all below it. */
export interface ChildOfCall {
  readonly turn: number;
  readonly position: number;
  readonly runId: string;
  /** False while the run or one below it is active. */
  readonly isOver: boolean;
  /** The terminal result; null while the run is active, and after its rows were erased. */
  readonly terminal: Uint8Array | null;
  /** What the run and all below it used. */
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly costMicroUsd: number;
}

/** Returns the child runs of the calls whose outcomes are not in the log yet. */
export async function readChildrenOfCalls(db: Db, runId: string): Promise<ChildOfCall[]> {
  const { rows } = await sql<ChildOfCall>`
    with recursive called as (${callsWithChild(runId)}), family (child, id) as (
      select child_run_id, child_run_id from called
      union all
      select family.child, below.id from family cross join lateral ${runsBelow}
    )
    select called.turn, called.position, called.child_run_id as "runId", child.terminal, total.*
    from called left join run as child on child.id = called.child_run_id cross join lateral (
      select coalesce(bool_and(run.end_time is not null), true) as "isOver",
        coalesce(sum(run.prompt_tokens), 0)::float8 as "promptTokens",
        coalesce(sum(run.completion_tokens), 0)::float8 as "completionTokens",
        coalesce(sum(run.cost_micro_usd), 0)::float8 as "costMicroUsd"
      from family cross join lateral ${runOfFamily} where family.child = called.child_run_id
    ) as total`.execute(db);
  return rows;
}

/** Look-ups for each row of `family`: for a plain join the planner expects a large family, and reads all runs. */
const runsBelow = sql`(select id from run where parent_run_id = family.id offset 0) as below`;
const runOfFamily = sql`(select * from run where id = family.id offset 0) as run`;

function callsWithChild(runId: string): RawBuilder<unknown> {
  return sql`
    select turn, position, child_run_id from tool_call
    where run_id = ${runId} and log_sequence is null and child_run_id is not null`;
}

/** The active runs that the open calls of a run wait for: their child runs, and all below these. */
function awaited(runId: string): RawBuilder<unknown> {
  return sql`(
    with recursive family (id) as (
      select child_run_id from (${callsWithChild(runId)}) as called
      union all
      select below.id from family cross join lateral ${runsBelow}
    )
    select run.id, run.deadline from family cross join lateral ${runOfFamily} where ${runIsActive}
  )`;
}

/**
 * Parks a run until the child runs of its calls have ended, at most until its deadline. That is not before theirs: the time in which
 * they wait for approvals does not count.
 */
export async function parkForChildren(trx: Transaction, args: { id: string; reason: string }): Promise<void> {
  await sql`
    update run set status = 'waiting', owner = null, wait_reason = ${args.reason}, takeovers = 0, change_time = now(),
      deadline = greatest(run.deadline, waits.until),
      wake_at = case when cancel_request_time is not null or waits.until is null then now()
        else greatest(run.deadline, waits.until) end
    from (select max(deadline) as until from ${awaited(args.id)} as open) as waits
    where run.id = ${args.id}`.execute(trx);
}

/** Queues a run that waits for child runs, when they have all ended. Returns false when it still waits, or does not wait for any. */
export async function wakeParentRun(db: Db, id: string): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    update run set status = 'queued', wait_reason = null, wake_at = now(), change_time = now()
    where id = ${id} and status = 'waiting' and exists (${callsWithChild(id)})
      and not exists (select from ${openApprovals(id)}) and not exists (select from ${awaited(id)} as open)`.execute(
    db,
  );
  return numAffectedRows === 1n;
}

/** Moves the deadline of a run that waits for child runs to theirs, if that is later. Returns whether it has moved. */
export async function moveDeadline(db: Db, id: string): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    update run set deadline = waits.until, wake_at = greatest(wake_at, waits.until)
    from (select max(deadline) as until from ${awaited(id)} as open) as waits
    where run.id = ${id} and status = 'waiting' and waits.until > run.deadline`.execute(db);
  return numAffectedRows === 1n;
}

/** Returns the active child runs of a run. */
export async function listActiveChildren(db: Db | Transaction, runId: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from run where parent_run_id = ${runId} and ${runIsActive} order by id`.execute(db);
  return rows.map(({ id }) => id);
}

/** Asks for a look at the parent of a run. */
export async function insertTreeCheck(trx: Transaction, runId: string): Promise<void> {
  await sql`insert into tree_check (run_id) values (${runId})`.execute(trx);
}

/** Asks for a look at an ended run that has active child runs: they are to be cancelled. */
export async function insertCheckOfChildren(trx: Transaction, runId: string): Promise<void> {
  await sql`
    insert into tree_check (run_id) select ${runId}::uuid
    where exists (select from run where parent_run_id = ${runId} and ${runIsActive})`.execute(trx);
}

/** A run to look at. */
export interface TreeCheck {
  readonly position: number;
  readonly runId: string;
}

/** Returns runs to look at, after a position. */
export async function listTreeChecks(db: Db, { after, limit }: { after: number; limit: number }): Promise<TreeCheck[]> {
  const { rows } = await sql<TreeCheck>`
    select position, run_id as "runId" from tree_check where position > ${after} order by position limit ${sql.lit(limit)}`.execute(
    db,
  );
  return rows;
}

/** Deletes looks that are done. Each by its position: an earlier one may have been written since. */
export async function deleteTreeChecks(db: Db, positions: readonly number[]): Promise<void> {
  await sql`delete from tree_check where position = any(${int8Array(positions)}::int8[])`.execute(db);
}
