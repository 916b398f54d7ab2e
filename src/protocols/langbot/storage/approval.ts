// What runs ask for and somebody has to approve. A decision and a use are each one statement that finds the row as it must be,
// so of any number at once one counts.

import { type RawBuilder, type Selectable, sql } from "kysely";
import type { Db, Transaction } from "../../../platform/database/database.ts";
import type { ApprovalTable } from "./schema.ts";

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

export type ApprovalState = "pending" | "approved" | "rejected" | "expired" | "used";

/** `request` only where one approval is asked for. */
export type ApprovalRow = Omit<Selectable<ApprovalTable>, "request" | "client"> & {
  readonly state: ApprovalState;
  readonly request?: string;
};

/** With the run that waits for it. */
export type AwaitedApproval = ApprovalRow & { readonly is_cancelling: boolean };

export interface ApprovalDecision {
  readonly client: string;
  readonly id: string;
  readonly digest: string;
  readonly decision: "approve" | "reject";
  readonly decidedBy: string;
  readonly comment: string;
}

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

export async function findApproval(
  db: Db,
  { client, id }: { client: string; id: string },
): Promise<ApprovalRow | undefined> {
  const { rows } = await sql<ApprovalRow>`
    select ${shown}, request from ${approvals} where approval.client = ${client} and approval.id = ${id}`.execute(db);
  return rows[0];
}

/** That of the result with this number in the runner's own count. */
export async function findApprovalOfResult(
  db: Db | Transaction,
  { runId, sequence }: { runId: string; sequence: bigint },
): Promise<AwaitedApproval | undefined> {
  const { rows } = await sql<AwaitedApproval>`
    select ${shown}, run.cancel_request_time is not null as is_cancelling from ${approvals}
    where run_id = ${runId} and runner_sequence = ${sequence}`.execute(db);
  return rows[0];
}

/** Newest first: ids are in order of creation. */
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
    // Said once more, for the index of those that are open.
    ...(state === "pending" ? [sql`decision is null`] : []),
  ];
  const { rows } = await sql<ApprovalRow>`
    select ${shown} from ${approvals} where ${sql.join(wanted, sql` and `)}
    order by approval.id desc limit ${limit}`.execute(db);
  return rows;
}

/** False when it is not the approval's digest, was decided, or is over. */
export async function decideApproval(db: Db, wanted: ApprovalDecision): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    update approval set decision = ${wanted.decision}, decided_by = ${wanted.decidedBy}, comment = ${wanted.comment},
      decide_time = clock_timestamp()
    from run where run.id = approval.run_id and run.end_time is null
      and approval.client = ${wanted.client} and approval.id = ${wanted.id} and digest = ${wanted.digest}
      and decision is null and expire_time > clock_timestamp()`.execute(db);
  return numAffectedRows === 1n;
}

/** Takes an approval up for the one use that it is good for. Whoever calls holds the run. False when it is not approved any more. */
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

/** Time passes without a statement, so nothing of it is kept. */
const stateNow: RawBuilder<ApprovalState> = sql`case
  when use_time is not null then 'used'
  when decision = 'reject' then 'rejected'
  when expire_time <= clock_timestamp() or run.end_time is not null then 'expired'
  when decision = 'approve' then 'approved'
  else 'pending' end`;

const shown = sql`approval.id, run_id, runner_id, runner_sequence, action, digest, expire_time, decision, decided_by, comment,
  decide_time, use_id, use_time, approval.create_time, ${stateNow} as state`;
