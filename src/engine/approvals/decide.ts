// Approvals as their client sees and decides them. A decision executes nothing: it wakes the run that waits for it, and a runner
// has to ask for it.
//
// V1  A decision is for the content that the deciding person has seen: it names the digest.
// V2  The first decision counts, also among concurrent ones. The same decision again gets the same answer.
// V3  After its expiry, or after the end of its run, an approval cannot be decided.

import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type Approval, Approval_Decision, Approval_State, ApprovalSchema } from "#gen/runnel/v1/approval_pb.js";
import { failpoint } from "../../platform/base/failpoint.ts";
import { Fault } from "../../platform/base/fault.ts";
import type { Db, Transaction } from "../../platform/database/database.ts";
import type { Wakeup } from "../log/wakeup.ts";
import {
  type ApprovalDecision,
  type ApprovalRow,
  type ApprovalState,
  decideApproval,
  findApproval,
} from "../storage/approval.ts";
import { wakeDecidedRun } from "../storage/run.ts";
import { subjectOf } from "./subject.ts";

/** The contract's states, by the stored ones. */
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

/** Returns the approval. Throws Fault APPROVAL_NOT_FOUND when it is unknown or of another client. */
export async function requireApproval(
  db: Db | Transaction,
  name: { client: string; id: string },
): Promise<ApprovalRow> {
  const row = await findApproval(db, name);
  if (row === undefined) {
    throw approvalNotFound();
  }
  return row;
}

/** Returns the fault for an unknown approval. */
export function approvalNotFound(): Fault {
  return new Fault("APPROVAL_NOT_FOUND", "approval not found");
}

/**
 * Records a decision and returns the approval. Throws Fault APPROVAL_NOT_FOUND, APPROVAL_CHANGED, APPROVAL_DECIDED or
 * APPROVAL_EXPIRED.
 */
export async function decide(
  { db, wakeup }: { readonly db: Db; readonly wakeup: Wakeup },
  wanted: ApprovalDecision,
): Promise<ApprovalRow> {
  const { row, isFirst, isWoken } = await db.transaction().execute(async (trx) => {
    const decided = await decideApproval(trx, wanted);
    const found = await requireApproval(trx, wanted);
    const woken = decided && (await wakeDecidedRun(trx, found.run_id));
    failpoint("approval.decided");
    return { row: found, isFirst: decided, isWoken: woken };
  });
  if (!isFirst) {
    assertRepeats(row, wanted);
    return row;
  }
  failpoint("approval.committed");
  wakeup.publish({ topic: "approval", key: row.run_id, value: 0 });
  if (isWoken) {
    wakeup.publish({ topic: "queue", key: "", value: 0 });
  }
  return row;
}

/** Converts a row to the contract's message. */
export function approvalToProto(row: ApprovalRow): Approval {
  const { decide_time: decideTime, use_time: useTime, request, form } = row;
  return create(ApprovalSchema, {
    approvalId: row.id,
    runId: row.run_id,
    runnerId: row.runner_id ?? "",
    runnerSequence: BigInt(row.runner_sequence ?? 0),
    sessionId: row.session_name,
    toolCallId: row.tool_call_id ?? "",
    action: row.action,
    agentName: row.agent_name ?? "",
    subject: subjectOf(row.request_start),
    digest: row.digest,
    ...(request !== undefined && { request }),
    ...(form !== null && { form }),
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
    throw new Fault("APPROVAL_CHANGED", "the digest does not match the approval: read the approval again, then decide");
  }
  if (row.decision === null) {
    throw new Fault("APPROVAL_EXPIRED", "the approval has expired or its run has ended: it can no longer be decided");
  }
  if (row.decision !== decision || row.decided_by !== decidedBy || row.comment !== comment) {
    throw new Fault("APPROVAL_DECIDED", `the approval was already decided: ${row.decision}`);
  }
}
