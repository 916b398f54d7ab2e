// The approvals that runs request. A decision and a use are each one statement, which checks the state of the row. So of any
// number of concurrent ones, one counts.

import { type RawBuilder, type Selectable, sql } from "kysely";
import { lowestUuid } from "../../../platform/base/ids.ts";
import type { Db, Transaction } from "../../../platform/database/database.ts";
import type { ApprovalTable } from "./schema.ts";

/** A new approval. */
export interface NewApprovalRow {
  readonly approvalId: string;
  readonly client: string;
  readonly runId: string;
  readonly runnerId: string;
  readonly runnerSequence: bigint;
  readonly action: string;
  readonly request: string;
  readonly digest: string;
  readonly expireMs: number;
}

/** The state of an approval. */
export type ApprovalState = "pending" | "approved" | "rejected" | "expired" | "used";

/** A stored approval. `request` is only present when a single approval is read. */
export type ApprovalRow = Omit<Selectable<ApprovalTable>, "request" | "client"> & {
  readonly state: ApprovalState;
  readonly request?: string;
};

/** An approval, and whether its run is being cancelled. */
export type AwaitedApproval = ApprovalRow & { readonly is_cancelling: boolean };

/** A decision about an approval. */
export interface ApprovalDecision {
  readonly client: string;
  readonly id: string;
  readonly digest: string;
  readonly decision: "approve" | "reject";
  readonly decidedBy: string;
  readonly comment: string;
}

/** Inserts an approval. */
export async function insertApproval(trx: Transaction, approval: NewApprovalRow): Promise<void> {
  await trx
    .insertInto("approval")
    .values({
      id: approval.approvalId,
      client: approval.client,
      run_id: approval.runId,
      runner_id: approval.runnerId,
      runner_sequence: Number(approval.runnerSequence),
      action: approval.action,
      request: approval.request,
      digest: approval.digest,
      expire_time: new Date(approval.expireMs),
    })
    .execute();
}

/** Returns an approval with its request; undefined when it is unknown. */
export async function findApproval(
  db: Db,
  { client, id }: { client: string; id: string },
): Promise<ApprovalRow | undefined> {
  const { rows } = await sql<ApprovalRow>`
    select ${shown}, request from ${approvals} where approval.client = ${client} and approval.id = ${id}`.execute(db);
  return rows[0];
}

/** Returns the approval of the result with this number in the runner's own count; undefined when it is unknown. */
export async function findApprovalOfResult(
  db: Db | Transaction,
  { runId, sequence }: { runId: string; sequence: bigint },
): Promise<AwaitedApproval | undefined> {
  const { rows } = await sql<AwaitedApproval>`
    select ${shown}, run.cancel_request_time is not null as is_cancelling from ${approvals}
    where run_id = ${runId} and runner_sequence = ${sequence}`.execute(db);
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
    sql`approval.client = ${client}`,
    ...(runId === undefined ? [] : [sql`run_id = ${runId}`]),
    ...(before === undefined ? [] : [sql`approval.id < ${before}`]),
    ...(state === undefined ? [] : [sql`${stateNow} = ${state}`]),
    // Repeated for the index of pending approvals.
    ...(state === "pending" ? [sql`decision is null`] : []),
  ];
  const { rows } = await sql<ApprovalRow>`
    select ${shown} from ${approvals} where ${sql.join(wanted, sql` and `)}
    order by approval.id desc limit ${limit}`.execute(db);
  return rows;
}

/** An approval, with the time since which its state is final; null while it may still change by a decision or a use. */
export type WatchedApproval = ApprovalRow & { readonly settled_time: Date | null };

/** Lists the newest approvals that may still change, or were settled at or after a time. */
export async function listApprovalsToWatch(
  db: Db,
  args: { client: string; runId: string | undefined; settledSince: Date; limit: number },
): Promise<WatchedApproval[]> {
  const { client, runId = null, settledSince, limit } = args;
  const { rows } = await sql<WatchedApproval>`
    select * from (
      select ${shown}, ${settledTime} as settled_time from ${approvals}
      where approval.client = ${client} and approval.id >= ${lowestUuid(settledSince.getTime() - lifetimeMaxMs)}
        and run_id = coalesce(${runId}::uuid, run_id)
    ) as recent where settled_time is null or settled_time >= ${settledSince}
    order by id desc limit ${limit}`.execute(db);
  return rows;
}

/** The longest time to decide, and the error of the clock in an id. */
const lifetimeMaxMs = 2 * 86_400_000;

/** Records a decision. Returns false when the digest differs, or when the approval is decided or expired. */
export async function decideApproval(db: Db, wanted: ApprovalDecision): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    update approval set decision = ${wanted.decision}, decided_by = ${wanted.decidedBy}, comment = ${wanted.comment},
      decide_time = clock_timestamp()
    from run where run.id = approval.run_id and run.end_time is null
      and approval.client = ${wanted.client} and approval.id = ${wanted.id} and digest = ${wanted.digest}
      and decision is null and expire_time > clock_timestamp()`.execute(db);
  return numAffectedRows === 1n;
}

/** Marks an approval as used by its single use. The caller holds the run. Returns false when it is no longer approved. */
export async function markApprovalUsed(
  trx: Transaction,
  { id, useId }: { id: string; useId: string },
): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    update approval set use_id = ${useId}, use_time = clock_timestamp()
    where id = ${id} and decision = 'approve' and use_time is null and expire_time > clock_timestamp()`.execute(trx);
  return numAffectedRows === 1n;
}

const approvals = sql`approval join run on run.id = approval.run_id`;

/** The state now. It is not stored, since an approval expires without a statement. */
const stateNow: RawBuilder<ApprovalState> = sql`case
  when use_time is not null then 'used'
  when decision = 'reject' then 'rejected'
  when expire_time <= clock_timestamp() or run.end_time is not null then 'expired'
  when decision = 'approve' then 'approved'
  else 'pending' end`;

const settledTime = sql`case
  when use_time is not null then use_time
  when decision = 'reject' then decide_time
  when expire_time <= clock_timestamp() or run.end_time is not null then least(expire_time, run.end_time) end`;

const shown = sql`approval.id, run_id, runner_id, runner_sequence, action, digest, expire_time, decision, decided_by, comment,
  decide_time, use_id, use_time, approval.create_time, ${stateNow} as state`;
