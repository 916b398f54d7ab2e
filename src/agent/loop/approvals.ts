// Tool calls that wait for a person.
//
// A1  A call that no tool would run asks for no approval: of an unknown tool, with invalid arguments, over the limit of a turn,
//     or in a turn in which a call was repeated too often.
// A2  A call with an approval begins once, after the commit that marks its approval as used.

import type { ToolCall } from "#gen/runnel/v1/message_pb.js";
import type { AgentTools } from "#gen/runnel/v1/session_pb.js";
import { askForApproval, loggedApproval } from "../../engine/approvals/request.ts";
import type { ResultInit } from "../../engine/log/result.ts";
import type { CallToMake, OpenToolCall, ParkedEnd } from "../../engine/runs/driver.ts";
import type { NewApproval } from "../../engine/storage/approval.ts";
import type { Clock } from "../../platform/base/clock.ts";
import { newUuid } from "../../platform/base/ids.ts";
import { parseArguments } from "../tools/arguments.ts";
import type { Tool, ToolOutcome } from "../tools/tool.ts";
import { callsPerTurnMax, parametersOf } from "./calls.ts";
import { checkpointOf, type Progress } from "./progress.ts";

/** The default time to decide: a day, so that a question of the evening has its answer in the morning. */
export const approvalSecondsDefault = 86_400;

/** What decides which calls ask for an approval. */
export interface Asking {
  readonly agentTools: AgentTools | undefined;
  readonly tools: readonly Tool[];
  /** True when no tool of the turn runs. */
  readonly isIntervened: boolean;
  readonly clock: Clock;
}

/** Returns the calls of a turn, with the requests for their approval. */
export function askForCalls(calls: readonly ToolCall[], asking: Asking): CallToMake[] {
  return calls.map((call, position) => ({
    call,
    approval: needsApproval(call, position, asking) ? ask(call, asking) : undefined,
  }));
}

function needsApproval(call: ToolCall, position: number, { agentTools, tools, isIntervened }: Asking): boolean {
  const tool = tools.find(({ name }) => name === call.name);
  return (
    (agentTools?.approve.includes(call.name) === true || tool?.needsApproval === true) &&
    !isIntervened &&
    position < callsPerTurnMax &&
    tool !== undefined &&
    "args" in parseArguments(call.arguments)
  );
}

function ask(call: ToolCall, { agentTools, clock }: Asking): NewApproval {
  const createMs = clock.nowMs();
  return askForApproval(
    { action: call.name, payload: parametersOf(call) },
    {
      toolCallId: call.id,
      expireSeconds: agentTools?.approvalSeconds || approvalSecondsDefault,
      stamp: { approvalId: newUuid(createMs), createMs },
    },
  );
}

/** Returns the log entries of the requests. */
export function askedResults(calls: readonly CallToMake[]): ResultInit[] {
  return calls.flatMap(({ call, approval }) => {
    if (approval === undefined) {
      return [];
    }
    const value = {
      ...loggedApproval(approval),
      toolCallId: call.id,
      toolName: call.name,
      parameters: parametersOf(call),
    };
    return [{ payload: { case: "approvalRequested", value } }];
  });
}

/** Returns the calls as they are after their commit. */
export function askedCalls(calls: readonly CallToMake[]): OpenToolCall[] {
  return calls.map(({ call, approval }) => ({
    call,
    outcome: undefined,
    approval: approval && {
      approvalId: approval.approvalId,
      state: "pending",
      expireMs: approval.expireMs,
      decidedBy: "",
      comment: "",
    },
  }));
}

/** Returns whether the call waits for a decision. */
export function isUndecided({ outcome, approval }: OpenToolCall): boolean {
  return outcome === undefined && approval?.state === "pending";
}

/** Returns the ids of the approvals of calls that may begin now. */
export function approvalsToUse(calls: readonly OpenToolCall[]): string[] {
  return calls.flatMap(({ outcome, approval }) =>
    outcome === undefined && approval?.state === "approved" ? [approval.approvalId] : [],
  );
}

/** Returns the outcome of a call that a person did not approve; undefined for a call that may run. */
export function outcomeOfRefusal({ approval }: OpenToolCall): ToolOutcome | undefined {
  switch (approval?.state) {
    case "rejected":
      return { error: `rejected by ${approval.decidedBy}${approval.comment === "" ? "" : `: ${approval.comment}`}` };
    case "expired":
      return { error: "the approval expired" };
    default:
      return undefined;
  }
}

/** Returns the end that parks a run until its calls are decided. */
export function parkForCalls(progress: Progress, calls: readonly OpenToolCall[], nowMs: number): ParkedEnd {
  const open = calls.filter(isUndecided);
  const names = new Set(open.map(({ call }) => call.name));
  return {
    kind: "parked",
    reason: `approval: ${[...names].join(", ")}`,
    wakeInMs: Math.max(0, ...open.map(({ approval }) => (approval?.expireMs ?? nowMs) - nowMs)),
    waitsFor: "approvals",
    checkpoint: checkpointOf(progress),
  };
}
