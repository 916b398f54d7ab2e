// The approvals of runners' actions, by the number of the action.

import { sql } from "kysely";
import { type ApprovalRow, approvalColumns, approvals } from "../../../engine/storage/approval.ts";
import type { Db, Transaction } from "../../../platform/database/database.ts";

/** An approval, and whether its run is being cancelled. */
export type AwaitedApproval = ApprovalRow & { readonly is_cancelling: boolean };

/** Returns the approval of the result with this number in the runner's own count; undefined when it is unknown. */
export async function findApprovalOfResult(
  db: Db | Transaction,
  { runId, sequence }: { runId: string; sequence: bigint },
): Promise<AwaitedApproval | undefined> {
  const { rows } = await sql<AwaitedApproval>`
    select ${approvalColumns}, run.cancel_request_time is not null as is_cancelling from ${approvals}
    where run_id = ${runId} and runner_sequence = ${sequence}`.execute(db);
  return rows[0];
}
