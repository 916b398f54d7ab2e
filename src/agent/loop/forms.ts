// Forms that a server asks a person to fill in, as approvals of the run. The server waits on its connection, so the run waits with it and
// is not parked. The next replica reports the call of a lost one as interrupted.
//
// F1  A form asks for an approval in the transaction of its log entry. The server gets an answer once, after the commit that uses the
//     approval and erases the values.
// F2  A form ends with its call, and when the server takes it back.

import type { ToolCall } from "#gen/runnel/v1/message_pb.js";
import type { AgentTools } from "#gen/runnel/v1/session_pb.js";
import type { AwaitedApproval } from "../../engine/approvals/await-decision.ts";
import { askForApproval, loggedApproval } from "../../engine/approvals/request.ts";
import type { ResultInit } from "../../engine/log/result.ts";
import type { RunContext, StepEffects } from "../../engine/runs/driver.ts";
import { type ApprovalRow, closeForms, insertApproval } from "../../engine/storage/approval.ts";
import type { Clock } from "../../platform/base/clock.ts";
import { newUuid } from "../../platform/base/ids.ts";
import type { AskedForm, FormAnswer } from "../tools/tool.ts";
import { approvalSecondsDefault } from "./approvals.ts";

/** Returns an approval when it is no longer pending; undefined after the signal. */
export type AwaitDecision = (approval: AwaitedApproval, signal: AbortSignal) => Promise<ApprovalRow | undefined>;

/** What the forms of a run need. */
export interface FormsOptions extends Pick<RunContext, "client" | "runId"> {
  readonly agentTools: AgentTools | undefined;
  readonly clock: Clock;
  readonly awaitDecision: AwaitDecision;
}

/** Resolves when the results and the effects are durable. */
export type CommitOfCall = (results: readonly ResultInit[], effects: StepEffects) => Promise<void>;

/** Asks for the approval of a form, and returns its answer. */
export async function askForForm(
  form: AskedForm,
  call: ToolCall,
  { agentTools, clock, awaitDecision, ...run }: FormsOptions,
  commit: CommitOfCall,
): Promise<FormAnswer> {
  const createMs = clock.nowMs();
  const parameters = JSON.stringify({ message: form.message, requestedSchema: JSON.parse(form.schema) });
  const approval = askForApproval(
    { action: "elicitation/create", target: JSON.stringify(form.server), payload: parameters },
    {
      toolCallId: call.id,
      expireSeconds: agentTools?.approvalSeconds || approvalSecondsDefault,
      stamp: { approvalId: newUuid(createMs), createMs },
    },
  );
  const value = { ...loggedApproval(approval), toolCallId: call.id, toolName: call.name, parameters };
  await commit([{ payload: { case: "approvalRequested", value } }], {
    own: (trx, { runId }) => insertApproval(trx, { ...approval, runId, form: form.schema }),
  });
  const decided = await awaitDecision({ ...run, ...approval }, form.signal);
  switch (decided?.state) {
    case "approved":
      await commit([], { usedApprovals: [approval.approvalId] });
      return { action: "accept", values: decided.answer ?? "{}" };
    case "rejected":
      return { action: "decline" };
    case undefined:
      // The server has taken the question back, or the call has ended.
      void commit([], { own: (trx, { runId }) => closeForms(trx, { runId, approvalId: approval.approvalId }) });
      return { action: "cancel" };
    default:
      return { action: "cancel" };
  }
}

/** Returns the effect that ends the forms of a call. */
export function endForms({ id: toolCallId }: ToolCall): StepEffects {
  return { own: (trx, { runId }) => closeForms(trx, { runId, toolCallId }) };
}
