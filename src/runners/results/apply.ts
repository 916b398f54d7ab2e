// What a result that is valid and allowed comes to: its entry in the log, its effect, or the end of the run.

import type { MessageChunk } from "#gen/runnel/v1/message_pb.js";
import { type ActionRequested, StateUpdated_Scope } from "#gen/runnel/v1/result_pb.js";
import type { ResultInit } from "../../runlog/result.ts";
import { messageText } from "../../sessions/message-text.ts";
import type { Grant } from "../grant.ts";
import type { StateScope } from "../scope.ts";
import { type ApprovalStamp, askForApproval, loggedApproval } from "./approval.ts";
import { loggedArtifact } from "./artifact.ts";
import { historyEffect, type ResultEffect, type RunnerEnd } from "./effect.ts";
import type { Output } from "./output.ts";
import { refuseMessage } from "./policy.ts";
import type { CompletedPayload, RunnerPayload } from "./read-payload.ts";
import type { Disposition } from "./verdict.ts";

export interface Applied {
  readonly disposition: Disposition;
  readonly warnings?: readonly string[];
  readonly payload?: NonNullable<ResultInit["payload"]>;
  /** An entry of the host right behind it. */
  readonly follow?: NonNullable<ResultInit["payload"]>;
  readonly effect?: ResultEffect | undefined;
  readonly end?: RunnerEnd;
}

export interface Counted {
  readonly runnerSequence: bigint;
  readonly usage: ResultInit["usage"];
}

export interface ApplyOptions {
  readonly grant: Grant;
  /** Told of what the run says. */
  readonly output: Output;
  readonly stampApproval: () => ApprovalStamp;
}

export function applyPayload(payload: RunnerPayload, counted: Counted, options: ApplyOptions): Applied {
  const { grant, output } = options;
  switch (payload.kind) {
    case "piece":
      return applyPiece(payload, grant, output);
    case "message":
      output.addMessage(payload.message);
      return {
        disposition: "applied",
        payload: { case: "messageCompleted", value: { message: payload.message } },
        effect: historyEffect(payload.message),
      };
    case "artifact":
      return {
        disposition: "applied",
        payload: { case: "artifactCreated", value: loggedArtifact(payload.artifact) },
        effect: { kind: "artifact", ...payload.artifact },
      };
    case "state":
      return {
        disposition: "applied",
        payload: { case: "stateUpdated", value: { ...payload.update, scope: scopes[payload.update.scope] } },
        effect: { kind: "state", ...payload.update },
      };
    case "action":
      return applyAction(payload.action, counted, options);
    case "telemetry":
      return { disposition: "telemetry", payload: payload.payload };
    case "unknown":
      return {
        disposition: "ignored_unknown",
        warnings: ["the type is not known here: kept as it came"],
        payload: payload.payload,
      };
    case "completed":
      return completeRun(payload, counted, grant, output);
    case "failed":
      return { disposition: "applied", end: { ...payload, ...counted } };
    default:
      return payload satisfies never;
  }
}

const scopes: Readonly<Record<StateScope, StateUpdated_Scope>> = {
  conversation: StateUpdated_Scope.CONVERSATION,
  actor: StateUpdated_Scope.ACTOR,
  subject: StateUpdated_Scope.SUBJECT,
  runner: StateUpdated_Scope.RUNNER,
};

function applyPiece({ chunk }: { chunk: MessageChunk }, grant: Grant, output: Output): Applied {
  // Once a run: a capability is no permission, and hundreds of warnings say no more than one.
  const isOdd = !grant.announcesStreaming && !output.hasStreamed;
  output.addPiece(chunk);
  return {
    disposition: "applied",
    warnings: isOdd ? ["the manifest does not announce streaming: set its capability"] : [],
    payload: { case: "messageDelta", value: { chunk } },
  };
}

/** Recorded, never executed: whether it is, is between its runner and whoever approves it. */
function applyAction(
  action: ActionRequested,
  { runnerSequence }: Counted,
  { grant, stampApproval }: ApplyOptions,
): Applied {
  const payload = { case: "actionRequested", value: action } as const;
  if (grant.approval === undefined) {
    return { disposition: "telemetry", payload };
  }
  const approval = askForApproval(action, { ...grant.approval, runnerSequence, stamp: stampApproval() });
  return {
    disposition: "applied",
    payload,
    follow: { case: "approvalRequested", value: loggedApproval(approval) },
    effect: { kind: "approval", ...approval },
  };
}

function completeRun(
  { finishReason, message: told }: CompletedPayload,
  counted: Counted,
  grant: Grant,
  output: Output,
): Applied {
  const refusal = told && refuseMessage(messageText(told), grant);
  const message = refusal === undefined ? told : undefined;
  const isNews = message !== undefined && !output.repeats(message);
  const last = grant.delivery.reply ? output.last : undefined;
  const isSilent = told === undefined && output.isEmpty;
  return {
    disposition: "applied",
    warnings: [
      ...(refusal === undefined ? [] : [`message left out: ${refusal}`]),
      ...(isSilent ? ["empty_output"] : []),
    ],
    effect: isNews ? historyEffect(message) : undefined,
    end: { kind: "completed", finishReason, message: message ?? last, ...counted },
  };
}
