// Approvals as their client sees and decides them. Nothing is done by a decision: it is there for the runner to ask for.
//
// V1  A decision is for what the one who decides has seen: its digest says so.
// V2  The first decision counts, whoever else decides at the same time; the same one again is answered like the first.
// V3  After its time, or the end of its run, nothing is decided.

import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type Approval, Approval_Decision, Approval_State, ApprovalSchema } from "#gen/runnel/runner/v1/approval_pb.js";
import type { Wakeup } from "../../../engine/log/wakeup.ts";
import { Fault } from "../../../platform/base/fault.ts";
import type { Db } from "../../../platform/database/database.ts";
import {
  type ApprovalDecision,
  type ApprovalRow,
  type ApprovalState,
  decideApproval,
  findApproval,
} from "../storage/approval.ts";

export const approvalStates = {
  pending: Approval_State.PENDING,
  approved: Approval_State.APPROVED,
  rejected: Approval_State.REJECTED,
  expired: Approval_State.EXPIRED,
  used: Approval_State.USED,
} as const satisfies Record<ApprovalState, Approval_State>;

const decisions = {
  approve: Approval_Decision.APPROVE,
  reject: Approval_Decision.REJECT,
} as const satisfies Record<ApprovalDecision["decision"], Approval_Decision>;

/** Throws APPROVAL_NOT_FOUND. */
export async function requireApproval(db: Db, name: { client: string; id: string }): Promise<ApprovalRow> {
  const row = await findApproval(db, name);
  if (row === undefined) {
    throw approvalNotFound();
  }
  return row;
}

export function approvalNotFound(): Fault {
  return new Fault("APPROVAL_NOT_FOUND", "approval not found");
}

/** Throws APPROVAL_NOT_FOUND, APPROVAL_CHANGED, APPROVAL_DECIDED or APPROVAL_EXPIRED. */
export async function decide(
  { db, wakeup }: { readonly db: Db; readonly wakeup: Wakeup },
  wanted: ApprovalDecision,
): Promise<ApprovalRow> {
  const isFirst = await decideApproval(db, wanted);
  const row = await requireApproval(db, wanted);
  if (isFirst) {
    wakeup.publish({ topic: "approval", key: row.run_id, value: 0 });
  } else {
    assertRepeats(row, wanted);
  }
  return row;
}

export function approvalToProto(row: ApprovalRow): Approval {
  const { decide_time: decideTime, use_time: useTime, request } = row;
  return create(ApprovalSchema, {
    approvalId: row.id,
    runId: row.run_id,
    runnerId: row.runner_id,
    runnerSequence: BigInt(row.runner_sequence),
    action: row.action,
    digest: row.digest,
    ...(request !== undefined && { request }),
    state: approvalStates[row.state],
    expireTime: timestampFromDate(row.expire_time),
    createTime: timestampFromDate(row.create_time),
    ...(row.decision !== null && { decision: decisions[row.decision] }),
    decidedBy: row.decided_by ?? "",
    ...(decideTime !== null && { decideTime: timestampFromDate(decideTime) }),
    comment: row.comment ?? "",
    ...(useTime !== null && { useTime: timestampFromDate(useTime) }),
  });
}

function assertRepeats(row: ApprovalRow, { digest, decision, decidedBy, comment }: ApprovalDecision): void {
  if (row.digest !== digest) {
    throw new Fault(
      "APPROVAL_CHANGED",
      "the digest is not that of the approval: look at it again and decide on what it says",
    );
  }
  if (row.decision === null) {
    throw new Fault(
      "APPROVAL_EXPIRED",
      "the time of the approval is over, or its run has ended: nothing can be decided",
    );
  }
  if (row.decision !== decision || row.decided_by !== decidedBy || row.comment !== comment) {
    throw new Fault("APPROVAL_DECIDED", `somebody has decided before: ${row.decision}`);
  }
}
