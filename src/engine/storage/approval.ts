// The approvals that runs request. A decision and a use are each one statement, which checks the state of the row. So of any
// number of concurrent ones, one counts.

import { type RawBuilder, type Selectable, sql } from "kysely";
import { asQuery } from "../../platform/database/as-query.ts";
import { uuidArray } from "../../platform/database/binary-array.ts";
import type { Db, Transaction } from "../../platform/database/database.ts";
import { untilFewer } from "../../platform/database/until-fewer.ts";
import { insertPushes } from "./push-config.ts";
import { runIsActive } from "./run.ts";
import type { ApprovalTable } from "./schema.ts";

/** A request for approval. */
export interface NewApproval {
  readonly approvalId: string;
  /** The number of the action in the runner's own count; undefined for a tool call. */
  readonly runnerSequence?: bigint | undefined;
  /** The id of the call; undefined for an action of a runner. */
  readonly toolCallId?: string | undefined;
  /** The beginning of the action, for people. */
  readonly action: string;
  /** The whole request as JSON. */
  readonly request: string;
  /** The SHA-256 of the request in lower-case hex. */
  readonly digest: string;
  readonly expireMs: number;
  /** The JSON Schema of the values that a person fills in; undefined for an approval without a form. */
  readonly form?: string | undefined;
}

/** A request of a run. */
export interface NewApprovalRow extends NewApproval {
  readonly runId: string;
  /** Undefined for a run of the agent loop. */
  readonly runnerId?: string;
}

/** The state of an approval. */
export type ApprovalState = "pending" | "approved" | "rejected" | "expired" | "used";

/** A stored approval. `request` and `answer` are only present when a single approval is read. */
export type ApprovalRow = Omit<Selectable<ApprovalTable>, "request" | "answer" | "client"> & {
  readonly state: ApprovalState;
  readonly session_name: string;
  readonly agent_name: string | null;
  /** The beginning of the request. */
  readonly request_start: string;
  readonly request?: string;
  readonly answer?: string | null;
};

/** A decision about an approval. */
export interface ApprovalDecision {
  readonly client: string;
  readonly id: string;
  readonly digest: string;
  readonly decision: "approve" | "reject";
  readonly decidedBy: string;
  readonly comment: string;
  /** The values of the form as JSON; undefined for none. */
  readonly values?: string | undefined;
}

/** Inserts an approval. It belongs to the client of its run. */
export async function insertApproval(trx: Transaction, approval: NewApprovalRow): Promise<void> {
  await sql`update run set change_time = now() where id = ${approval.runId}::uuid`.execute(trx);
  await insertPushes(trx, { runId: approval.runId, sequence: 0, status: "running" });
  await trx
    .insertInto("approval")
    .values({
      id: approval.approvalId,
      client: sql<string>`(select client from run where id = ${approval.runId})`,
      run_id: approval.runId,
      runner_id: approval.runnerId ?? null,
      runner_sequence: approval.runnerSequence === undefined ? null : Number(approval.runnerSequence),
      tool_call_id: approval.toolCallId ?? null,
      action: approval.action,
      request: approval.request,
      digest: approval.digest,
      expire_time: new Date(approval.expireMs),
      form: approval.form ?? null,
    })
    .execute();
}

/** Returns an approval with its request; undefined when it is unknown. */
export async function findApproval(
  db: Db | Transaction,
  { client, id }: { client: string; id: string },
): Promise<ApprovalRow | undefined> {
  const { rows } = await sql<ApprovalRow>`
    select ${approvalColumns}, request, answer from ${approvals}
    where approval.client = ${client} and approval.id = ${id}`.execute(db);
  return rows[0];
}

/** Lists approvals, the newest first: ids are in the order of creation. */
export async function listApprovals(
  db: Db,
  args: {
    client: string;
    runId: string | undefined;
    state: ApprovalState | undefined;
    before: string | undefined;
    limit: number;
  },
): Promise<ApprovalRow[]> {
  const { client, runId, state, before, limit } = args;
  const wanted = [
    ...(runId === undefined ? [] : [sql`run_id = ${runId}`]),
    ...(before === undefined ? [] : [sql`approval.id < ${before}`]),
    ...(state === undefined ? [] : [notRare(sql`${approvalState} = ${state}`)]),
  ];
  const parts = partsOf(client, state).map(
    (part) => sql`(
      select ${approvalColumns} from ${approvals} where ${sql.join([part, ...wanted], sql` and `)}
      order by approval.id desc limit ${limit})`,
  );
  const { rows } = await sql<ApprovalRow>`
    select * from (${sql.join(parts, sql` union all `)}) as of_parts order by id desc limit ${limit}`.execute(db);
  return rows;
}

/** Returns conditions that an index has each, in the order of the ids. Together they have all approvals of the state. */
function partsOf(client: string, state: ApprovalState | undefined): RawBuilder<unknown>[] {
  switch (state) {
    case undefined:
      return [sql`approval.client = ${client}`];
    case "pending":
      return [sql`approval.client = ${client} and decision is null and expire_time > now()`];
    case "expired":
      return [isKnownAs("open"), isKnownAs("approved")];
    default:
      return [isKnownAs(state)];
  }

  function isKnownAs(known: "open" | Exclude<ApprovalState, "pending" | "expired">): RawBuilder<unknown> {
    return sql`approval.client collate "C" = ${client} and case when use_time is not null then 'used'
      when decision = 'reject' then 'rejected' when decision = 'approve' then 'approved' else 'open' end = ${sql.lit(known)}`;
  }
}

/** An approval, with the time since which its state is final; null while it may still change by a decision or a use. */
export type WatchedApproval = ApprovalRow & { readonly settled_time: Date | null };

/**
 * Lists the newest approvals that may still change, or were settled at or after a time. Those are of runs that are active or have ended
 * since then: the end of a run settles all of its approvals.
 */
export async function listApprovalsToWatch(
  db: Db,
  args: { client: string; runId: string | undefined; settledSince: Date; limit: number },
): Promise<WatchedApproval[]> {
  const { client, runId = null, settledSince, limit } = args;
  const since = asQuery(settledSince, "timestamptz");
  // The planner takes an array, and a span with two ends, for few rows, and reads these by an index.
  const { rows } = await sql<WatchedApproval>`
    select * from (
      select ${approvalColumns}, ${settledTime} as settled_time from ${approvals}
      where approval.id = any(array(
        select asked.id from (
          select id from run where client collate "C" = ${asQuery(client, "text")} and ${runIsActive}
          union all
          select id from run where client collate "C" = ${asQuery(client, "text")} and end_time between ${since} and 'infinity'
        ) as recent cross join lateral (
          select id from approval where run_id = recent.id and run_id = coalesce(${asQuery(runId, "uuid")}, run_id) offset 0
        ) as asked
      ))
    ) as recent where settled_time is null or settled_time >= ${since}
    order by id desc limit ${limit}`.execute(db);
  return rows;
}

/**
 * Records a decision. Locks the run first, as its owner does: so a run that is about to wait sees the decision, or is woken by
 * it. Returns false when the digest differs, or when the approval is decided or expired.
 */
export async function decideApproval(trx: Transaction, wanted: ApprovalDecision): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    with asking as materialized (
      select run.id from run join approval on approval.run_id = run.id
      where approval.client = ${wanted.client} and approval.id = ${wanted.id} and run.end_time is null
      for update of run
    ), decided as (
      update approval set decision = ${wanted.decision}, decided_by = ${wanted.decidedBy}, comment = ${wanted.comment},
        answer = ${wanted.values ?? null}, decide_time = clock_timestamp()
      from asking where asking.id = approval.run_id and approval.id = ${wanted.id} and digest = ${wanted.digest}
        and decision is null and expire_time > clock_timestamp()
      returning run_id
    )
    update run set change_time = now() from decided where run.id = decided.run_id`.execute(trx);
  return numAffectedRows === 1n;
}

/** Marks an approval as used by its single use. The caller holds the run. Returns false when it is no longer approved. */
export async function markApprovalUsed(
  trx: Transaction,
  { id, useId }: { id: string; useId: string },
): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    update approval set use_id = ${useId}, use_time = clock_timestamp(), answer = null
    where id = ${id} and decision = 'approve' and use_time is null
      and (tool_call_id is not null or expire_time > clock_timestamp())`.execute(trx);
  return numAffectedRows === 1n;
}

/** Ends forms of a run that their server no longer waits for: they can no longer be filled in, and their values are erased. */
export async function closeForms(
  trx: Transaction,
  of: { readonly runId: string } & ({ readonly toolCallId: string } | { readonly approvalId: string }),
): Promise<void> {
  const closed = "toolCallId" in of ? sql`tool_call_id = ${of.toolCallId}` : sql`id = ${of.approvalId}`;
  await sql`
    update approval set answer = null, expire_time = least(expire_time, clock_timestamp())
    where run_id = ${of.runId} and ${closed} and form is not null and use_time is null`.execute(trx);
}

/** Deletes the approvals of runs, at most `rowsMax` at a time. */
export async function deleteApprovals(
  db: Db,
  { runs, rowsMax }: { runs: readonly string[]; rowsMax: number },
): Promise<void> {
  await untilFewer(rowsMax, () =>
    sql`
      delete from approval where id in (
        select id from approval where run_id = any(${uuidArray(runs)}::uuid[]) limit ${sql.lit(rowsMax)})`.execute(db),
  );
}

/** Erases the texts of the approvals of runs. */
export async function emptyApprovals(db: Db, runs: readonly string[]): Promise<void> {
  await sql`
    update approval set action = '', request = '{}', form = case when form is null then null else '{}' end, answer = null, comment = case when comment is null then null else '' end
    where run_id = any(${uuidArray(runs)}::uuid[])`.execute(db);
}

/** The tables that `approvalColumns` needs. */
export const approvals = sql`approval join run on run.id = approval.run_id join session on session.id = run.session`;

const isOver = sql`run.end_time is not null
  or (expire_time <= clock_timestamp() and (tool_call_id is null or decision is null))`;

/** The state now, beside the run. It is not stored, since an approval expires without a statement. */
export const approvalState: RawBuilder<ApprovalState> = sql`case
  when use_time is not null then 'used'
  when decision = 'reject' then 'rejected'
  when ${isOver} then 'expired'
  when decision = 'approve' then 'approved'
  else 'pending' end`;

const settledTime = sql`case
  when use_time is not null then use_time
  when decision = 'reject' then decide_time
  when ${isOver} then case when tool_call_id is not null and decision is not null then run.end_time
    else least(expire_time, run.end_time) end end`;

/** Enough for the first arguments of a request. */
const requestStartChars = 2_000;

/** The columns of an ApprovalRow without its request. */
export const approvalColumns = sql`approval.id, approval.run_id, approval.runner_id, runner_sequence, tool_call_id,
  session.name as session_name, action, digest, expire_time, decision, decided_by, comment, decide_time, use_id, use_time,
  approval.create_time, form, run.agent_name, left(approval.request, ${sql.lit(requestStartChars)}) as request_start, ${approvalState} as state`;

/** Hides a condition from the planner, which would expect few matches and sort all rows of the client for them. */
function notRare(condition: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`case when ${condition} then true else false end`;
}
