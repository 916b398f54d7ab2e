// Interrupts: a run that waits for approvals has ended for its client, and the client's answers begin what it sees as the next run.
// Nothing is stored for it: the answers name the approvals, and the log has the place at which the run waited.

import { type Approval, Approval_Decision, Approval_State } from "#gen/runnel/v1/approval_pb.js";
import { ApprovalService } from "#gen/runnel/v1/approval_service_pb.js";
import type { RunResult } from "#gen/runnel/v1/result_pb.js";
import { pageSizeMax } from "../../platform/base/lists.ts";
import { describeFailure, isReason } from "../rest/failure.ts";
import type { Calls } from "./calls.ts";
import { RunRefused } from "./run-refused.ts";

const { listApprovals, getApproval, decideApproval } = ApprovalService.method;

/** The answer to an interrupt. */
export interface ResumeEntry {
  readonly interruptId: string;
  /** False also when the person left the question. */
  readonly isApproved: boolean;
  /** True when the person left the question. */
  readonly isCancelled: boolean;
  readonly comment: string;
}

/** The maximum length of a comment on a decision, in characters. */
const commentCharsMax = 1_024;

/** Refuses other input while a run waits for approvals. Throws RunRefused `interrupt_pending`. */
export async function assertNoInterrupt(calls: Calls, runId: string): Promise<void> {
  await assertAnswered(calls, runId, []);
}

/**
 * Decides the approvals that a client answers: those of a session, or any of its own when `sessionId` is undefined. The same answers
 * again change nothing. Returns the id of the run.
 * @throws RunRefused for an answer that is missing, unknown, too late or not the first.
 */
export async function answerInterrupts(
  calls: Calls,
  sessionId: string | undefined,
  entries: readonly ResumeEntry[],
): Promise<string> {
  const approvals = await Promise.all(entries.map((entry) => findApproval(calls, sessionId, entry)));
  const [first] = approvals;
  if (first === undefined || approvals.some(({ runId }) => runId !== first.runId)) {
    throw new RunRefused("interrupt_unknown", "the answers are about interrupts of different runs");
  }
  await assertAnswered(calls, first.runId, entries);
  const answered = entries.map((entry, index) => ({ entry, approval: approvals[index] ?? first }));
  // All are checked before the first is decided.
  const undecided = answered.filter(({ entry, approval }) => !isSettled(approval, entry));
  for (const { entry, approval } of undecided) {
    await decide(calls, approval, entry);
  }
  return first.runId;
}

async function findApproval(
  calls: Calls,
  sessionId: string | undefined,
  { interruptId }: ResumeEntry,
): Promise<Approval> {
  try {
    const { approval } = await calls.call(getApproval, { approvalId: interruptId });
    if (approval !== undefined && (sessionId === undefined || approval.sessionId === sessionId)) {
      return approval;
    }
  } catch (error) {
    if (!isReason(error, "APPROVAL_NOT_FOUND", "INVALID_ARGUMENT")) {
      throw error;
    }
  }
  throw new RunRefused("interrupt_unknown", `the thread has no interrupt ${interruptId}`);
}

async function assertAnswered(calls: Calls, runId: string, entries: readonly ResumeEntry[]): Promise<void> {
  const request = { runId, state: Approval_State.PENDING, pageSize: pageSizeMax };
  const answered = new Set(entries.map(({ interruptId }) => interruptId));
  const { approvals } = await calls.call(listApprovals, request);
  const missing = approvals.filter(({ approvalId }) => !answered.has(approvalId));
  if (missing.length > 0) {
    const ids = missing.map(({ approvalId }) => approvalId).join(", ");
    throw new RunRefused("interrupt_pending", `the thread waits for answers in resume: ${ids}`);
  }
}

/** Returns true for an approval with this decision. Throws RunRefused when it has another one, or expired. */
function isSettled({ approvalId, decision, state }: Approval, entry: ResumeEntry): boolean {
  if (decision !== Approval_Decision.UNSPECIFIED) {
    if ((decision === Approval_Decision.APPROVE) !== entry.isApproved) {
      throw decidedOtherwise(approvalId);
    }
    return true;
  }
  // The client of 1.0 asks for the cancellation of an expired interrupt, to continue the thread.
  if (state === Approval_State.EXPIRED && !entry.isCancelled) {
    throw expired(approvalId);
  }
  return state === Approval_State.EXPIRED;
}

async function decide(calls: Calls, { approvalId, digest }: Approval, entry: ResumeEntry): Promise<void> {
  const decision = entry.isApproved ? Approval_Decision.APPROVE : Approval_Decision.REJECT;
  const comment = [...entry.comment].slice(0, commentCharsMax).join("");
  try {
    await calls.call(decideApproval, { approvalId, digest, decision, comment });
  } catch (error) {
    if (isReason(error, "APPROVAL_DECIDED")) {
      throw decidedOtherwise(approvalId);
    }
    if (isReason(error, "APPROVAL_EXPIRED")) {
      throw expired(approvalId);
    }
    if (isReason(error, "INVALID_ARGUMENT")) {
      throw new RunRefused("INVALID_ARGUMENT", describeFailure(error).message);
    }
    throw error;
  }
}

function decidedOtherwise(approvalId: string): RunRefused {
  return new RunRefused("interrupt_decided", `the interrupt ${approvalId} was already decided otherwise`);
}

function expired(approvalId: string): RunRefused {
  return new RunRefused(
    "interrupt_expired",
    `the interrupt ${approvalId} has expired: cancel it to continue the thread`,
  );
}

/** Returns the results up to the place at which the run waited for these interrupts. */
export function resultsBefore(results: readonly RunResult[], entries: readonly ResumeEntry[]): readonly RunResult[] {
  const ids = new Set(entries.map(({ interruptId }) => interruptId));
  const asked = results.findLastIndex(
    ({ payload }) => payload.case === "approvalRequested" && ids.has(payload.value.approvalId),
  );
  const waiting = results.findIndex(({ payload }, index) => index > asked && payload.case === "runWaiting");
  return results.slice(0, 1 + (waiting === -1 ? asked : waiting));
}
