// The run rows: the queue, the ownership and the outcome of every run. A transaction that changes a run without owning it locks
// the row first. A partial unique index limits a session to one active run.

import { type RawBuilder, type Selectable, sql } from "kysely";
import { asQuery } from "../../platform/database/as-query.ts";
import { uuidArray } from "../../platform/database/binary-array.ts";
import { type Db, storableText, type Transaction } from "../../platform/database/database.ts";
import { insertPushes } from "./push-config.ts";
import type { RunStatus, RunTable } from "./schema.ts";

/** A run, with durations that only the database's clock gives. */
export interface RunRow extends RunWithoutInput {
  readonly input: Uint8Array;
}

/** A run without its input, which may be large. */
export interface RunWithoutInput extends Pick<Selectable<RunTable>, RunColumn> {
  /** The time since the run was created. */
  readonly age_ms: number;
  /** The time until its deadline; negative after it. */
  readonly time_left_ms: number;
}

/** Listed by name: a row keeps its shape for this version when a newer version adds columns. */
const runColumns = [
  "run.id",
  "run.client",
  "run.session",
  "run.driver",
  "run.status",
  "run.owner",
  "run.epoch",
  "run.turn",
  "run.takeovers",
  "run.wait_reason",
  "run.wake_at",
  "run.deadline",
  "run.cancel_request_time",
  "run.create_time",
  "run.start_time",
  "run.end_time",
  "run.last_sequence",
  "run.terminal",
  "run.trace_parent",
  "run.callback_url",
  "run.log_hash",
  "run.model",
  "run.input_length",
  "run.agent_name",
  "run.parent_run_id",
  "run.root_run_id",
  "run.depth",
  "run.change_time",
  "run.has_pushes",
] as const;
type RunColumn = (typeof runColumns)[number] extends `run.${infer Column extends keyof RunTable}` ? Column : never;
const age = sql<number>`(extract(epoch from clock_timestamp() - run.create_time) * 1000)::float8`.as("age_ms");
const timeLeft = sql<number>`(extract(epoch from run.deadline - clock_timestamp()) * 1000)::float8`.as("time_left_ms");
/** The selected columns but the input. */
export const runSelectionWithoutInput = [...runColumns, age, timeLeft] as const;
/** The selected columns. */
const runSelection = ["run.input", ...runSelectionWithoutInput] as const;
/** The selected columns, for statements in raw SQL. */
export const runValues = sql.join([...["run.input", ...runColumns].map((column) => sql.ref(column)), age, timeLeft]);

/**
 * Returns a status as a literal in the statement, so that its cached plan may use the partial index of the status. A look-up by id
 * has the status as a parameter: such an index looks as cheap as the key while few runs have the status, and then grows.
 */
function literal(status: RunStatus): RawBuilder<RunStatus> {
  return sql.lit(status);
}

/** The statuses of a run that has not ended. */
export const activeStatuses = ["pending", "queued", "running", "waiting"] as const satisfies readonly RunStatus[];

/** Returns whether a run with this status has not ended. */
export function isActive(status: RunStatus): boolean {
  return (activeStatuses as readonly RunStatus[]).includes(status);
}

/** The condition that a run has not ended. */
export const runIsActive: RawBuilder<boolean> = sql<boolean>`run.status in (${sql.join(activeStatuses.map(literal))})`;

/** Returns a run; undefined when it does not exist. */
export async function findRun(db: Db | Transaction, id: string): Promise<RunRow | undefined> {
  return await db.selectFrom("run").select(runSelection).where("id", "=", id).executeTakeFirst();
}

/** Returns the ids of those runs that have ended. */
export async function findEndedRuns(db: Db, ids: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select run.id from unnest(${asQuery(uuidArray(ids), "uuid[]")}) as asked (id) join run on run.id = asked.id
    where run.status not in (${sql.join(activeStatuses.map(literal))})`.execute(db);
  return rows.map(({ id }) => id);
}

/** The settings of a run, and the messages that started it. */
export interface RunInput {
  readonly agent: Uint8Array;
  readonly model: string | null;
  readonly annotations: string | null;
  readonly messages: readonly Uint8Array[];
}

/** Returns the input of a run. */
export async function readRunInput(db: Db, runId: string): Promise<RunInput | undefined> {
  const { rows } = await sql<RunInput>`
    select coalesce(run.agent, session.agent) as agent, run.model, run.annotations,
      case when octet_length(run.input) = 0 then '{}' when run.input_length = 1 then array[run.input] else coalesce(nullif(array(
        select message from transcript where transcript.session = run.session and transcript.run_id = run.id
        order by position limit run.input_length
      ), '{}'), array[run.input]) end as messages
    from run join session on session.id = run.session where run.id = ${runId}`.execute(db);
  return rows[0];
}

/** Marks a run as deleted: its client does not find it any more. */
export async function markRunDeleted(trx: Transaction, id: string): Promise<void> {
  await sql`delete from run_text where run_id = ${id}`.execute(trx);
  await trx.updateTable("run").set({ delete_time: sql<Date>`now()` }).where("id", "=", id).execute();
}

/**
 * Locks and returns a run; undefined when it does not exist. Waits for other transactions. The lock ends with the transaction.
 */
export async function lockRun(trx: Transaction, id: string): Promise<RunRow | undefined> {
  return await trx.selectFrom("run").select(runSelection).where("id", "=", id).forUpdate().executeTakeFirst();
}

/** Returns the runs that a replica owns but does not work on. Recently started runs may still be on their way. */
export async function listStrays(
  db: Db,
  args: { owner: string; except: readonly string[]; startedBeforeMs: number },
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from run where owner = ${args.owner} and status = 'running'
      and id <> all(${uuidArray(args.except)}::uuid[])
      and start_time < now() - ${args.startedBeforeMs} * interval '1 millisecond'`.execute(db);
  return rows.map((row) => row.id);
}

/** Disowns a running run: its owner then does not exist, as with a dead replica. Returns false when the replica does not own it. */
export async function disownRun(db: Db | Transaction, { id, owner }: { id: string; owner: string }): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable("run")
    .set({ owner: noOwner })
    .where("id", "=", id)
    .where("owner", "=", owner)
    .where("status", "=", "running")
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** No replica has this id. */
const noOwner = "00000000-0000-0000-0000-000000000000";

/** A run and the lease that its owner holds it under, both locked. */
export interface OwnedRun extends RunRow {
  /** The sequence of the newest result; 0 without results. */
  readonly log_length: number;
  /** False when the lease has expired: write nothing. */
  readonly is_held: boolean;
}

/**
 * Locks the lease and the run, so that no takeover and no other change happens until the transaction ends. Returns undefined
 * when the run does not exist.
 */
export async function lockOwnRun(
  trx: Transaction,
  args: { id: string; replicaId: string },
): Promise<OwnedRun | undefined> {
  const { rows } = await sql<OwnedRun>`
    with held as materialized (
      select id from replica where id = ${args.replicaId} and lease_until > now() for key share
    )
    select ${runValues}, exists (select from held) as is_held,
      coalesce((select max(sequence) from run_result where run_id = ${args.id}), 0)::int8 as log_length
    from run where id = ${args.id} for update`.execute(trx);
  return rows[0];
}

/** Puts a run back into the queue, where any replica may claim it. */
export async function requeueRun(trx: Transaction, args: { id: string; takeover: boolean }): Promise<void> {
  await trx
    .updateTable("run")
    .set({
      status: "queued",
      owner: null,
      wake_at: sql<Date>`now()`,
      ...(args.takeover && { takeovers: sql<number>`takeovers + 1` }),
    })
    .where("id", "=", args.id)
    .execute();
}

/** Parks a run: it waits without an owner, at most until its deadline. */
export async function parkRun(
  trx: Transaction,
  args: { id: string; reason: string; wakeInMs: number | undefined },
): Promise<void> {
  await trx
    .updateTable("run")
    .set({
      status: "waiting",
      owner: null,
      wait_reason: args.reason,
      change_time: sql<Date>`now()`,
      // The run reached a safe point, so it did not cause the takeovers before.
      takeovers: 0,
      // A parked run that is never woken still meets its deadline. A run that was cancelled meanwhile does not wait.
      wake_at: sql<Date>`case when cancel_request_time is not null then now()
        else least(now() + ${args.wakeInMs ?? null}::float8 * interval '1 millisecond', deadline) end`,
    })
    .where("id", "=", args.id)
    .execute();
  await insertPushes(trx, { runId: args.id, sequence: 0, status: "running" });
}

/**
 * Parks a run until all its approvals are decided or expired. Its deadline is later by the longest time that it may wait; a
 * decision takes back the rest. The caller has locked the run: a decision before is seen here, a later one finds the run waiting.
 */
export async function parkForApprovals(trx: Transaction, args: { id: string; reason: string }): Promise<void> {
  await sql`
    update run set status = 'waiting', owner = null, wait_reason = ${args.reason}, takeovers = 0, change_time = now(),
      wake_at = waits.until, deadline = deadline + (waits.until - now())
    from (
      select case when cancel_request_time is not null then now()
        else greatest(now(), (select max(expire_time) from ${openApprovals(args.id)})) end as until
      from run where id = ${args.id}
    ) as waits where run.id = ${args.id}`.execute(trx);
}

/** Queues the waiting runs whose time has come. Returns how many. */
export async function wakeDueRuns(db: Db): Promise<number> {
  const { numUpdatedRows } = await db
    .updateTable("run")
    .set({ status: "queued", wait_reason: null, wake_at: sql<Date>`now()`, change_time: sql<Date>`now()` })
    .where("status", "=", literal("waiting"))
    .where("wake_at", "<=", sql<Date>`now()`)
    .executeTakeFirst();
  return Number(numUpdatedRows);
}

/** Queues one waiting run, whether its time has come or not. Returns false when the run does not wait. */
export async function wakeRun(db: Db, id: string): Promise<boolean> {
  const result = await db
    .updateTable("run")
    .set({ status: "queued", wait_reason: null, wake_at: sql<Date>`now()`, change_time: sql<Date>`now()` })
    .where("status", "=", "waiting")
    .where("id", "=", id)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/**
 * Queues a run that waits for approvals, when all of them are decided or expired. The time that it waited does not count towards
 * its deadline. Returns false when the run still waits, or does not wait for approvals.
 */
export async function wakeDecidedRun(trx: Transaction, id: string): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    update run set status = 'queued', wait_reason = null, wake_at = now(), change_time = now(),
      deadline = deadline - greatest(wake_at - now(), interval '0')
    where id = ${id} and status = 'waiting' and exists (select from approval where run_id = ${id} and tool_call_id is not null)
      and not exists (select from ${openApprovals(id)})`.execute(trx);
  return numAffectedRows === 1n;
}

/** The approvals that a run of the agent loop waits for. */
export function openApprovals(id: string) {
  return sql`approval where run_id = ${id} and tool_call_id is not null and decision is null
    and expire_time > clock_timestamp()`;
}

/** Sets the number of turns of a run. */
export async function setTurn(trx: Transaction, args: { id: string; turn: number }): Promise<void> {
  await trx.updateTable("run").set({ turn: args.turn }).where("id", "=", args.id).execute();
}

/** Gives a run and its session to another agent. */
export async function setAgent(
  trx: Transaction,
  args: { runId: string; session: string; agent: Uint8Array; model: string; agentName: string },
): Promise<void> {
  const agent = Buffer.from(args.agent);
  await trx
    .updateTable("run")
    .set({ agent, model: args.model, agent_name: storableText(args.agentName) })
    .where("id", "=", args.runId)
    .execute();
  await trx.updateTable("session").set({ agent }).where("id", "=", args.session).execute();
}

/** What a run used; 0 for what was not counted. */
export interface Spent {
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly costMicroUsd: number;
}

/** Writes the end of a run. */
export async function finishRun(
  trx: Transaction,
  args: {
    id: string;
    status: "completed" | "failed" | "cancelled";
    turn: number;
    sequence: number;
    terminal: Uint8Array;
    logHash: Uint8Array | undefined;
    spent: Spent;
    /** The code and the message of the failure; undefined for a completed run. */
    failure: string | undefined;
  },
): Promise<void> {
  await trx
    .updateTable("run")
    .set({
      status: args.status,
      owner: null,
      wake_at: null,
      wait_reason: null,
      turn: args.turn,
      last_sequence: args.sequence,
      terminal: Buffer.from(args.terminal),
      log_hash: args.logHash === undefined ? null : Buffer.from(args.logHash),
      end_time: sql<Date>`now()`,
      failure: args.failure ?? null,
      prompt_tokens: args.spent.promptTokens,
      completion_tokens: args.spent.completionTokens,
      cost_micro_usd: args.spent.costMicroUsd,
    })
    .where("id", "=", args.id)
    .execute();
}

/** Records the cancel request. Later requests keep the time of the first. */
export async function requestCancel(trx: Transaction, id: string): Promise<void> {
  await trx
    .updateTable("run")
    .set({ cancel_request_time: sql<Date>`now()` })
    .where("id", "=", id)
    .where("cancel_request_time", "is", null)
    .execute();
}

/** Returns the runs of a replica that have a cancel request. */
export async function listCancelRequests(db: Db, owner: string): Promise<string[]> {
  const rows = await db
    .selectFrom("run")
    .select("id")
    .where("owner", "=", owner)
    .where("status", "=", literal("running"))
    .where("cancel_request_time", "is not", null)
    .execute();
  return rows.map((row) => row.id);
}

/** Locks and returns runs whose owner no longer exists. Skips runs that another transaction has locked. */
export async function lockOrphanedRuns(trx: Transaction, limit: number): Promise<RunRow[]> {
  return await trx
    .selectFrom("run")
    .select(runSelection)
    .where("status", "=", literal("running"))
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom("replica").select("replica.id").whereRef("replica.id", "=", "run.owner"))),
    )
    .orderBy("id")
    .limit(sql.lit(limit))
    .forUpdate()
    .skipLocked()
    .execute();
}

/** Locks and returns running runs that are past their deadline by more than a margin: their owner failed to end them. */
export async function lockOverdueRuns(trx: Transaction, args: { marginMs: number; limit: number }): Promise<RunRow[]> {
  return await trx
    .selectFrom("run")
    .select(runSelection)
    .where("status", "=", literal("running"))
    .where("deadline", "<", sql<Date>`now() - ${args.marginMs} * interval '1 millisecond'`)
    .orderBy("id")
    .limit(sql.lit(args.limit))
    .forUpdate()
    .skipLocked()
    .execute();
}

/**
 * Returns how long the longest waiting run has been due without an owner, in milliseconds; 0 without such a run. A run with a
 * lost owner counts from the end of the lease, or from its start once the lease is deleted. Such a run should be queued again
 * soon.
 */
export async function oldestUnleasedMs(db: Db): Promise<number> {
  const { rows } = await sql<{ age_ms: number | null }>`
    select (extract(epoch from now() - min(since)) * 1000)::float8 as age_ms from (
      select min(wake_at) as since from run where status = 'queued' and wake_at <= now()
      union all
      select min(coalesce(replica.lease_until, run.start_time)) from run left join replica on replica.id = run.owner
      where run.status = 'running' and (replica.id is null or replica.lease_until < now())
    ) as unleased`.execute(db);
  return rows[0]?.age_ms ?? 0;
}
