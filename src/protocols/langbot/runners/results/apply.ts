// Decides what a valid and allowed result changes: its log entry, its effect, or the end of the run.

import { create } from "@bufbuild/protobuf";
import { type Message, MessageSchema } from "#gen/runnel/v1/message_pb.js";
import { type ActionRequested, StateUpdated_Scope } from "#gen/runnel/v1/result_pb.js";
import { type ApprovalStamp, askForApproval, loggedApproval } from "../../../../engine/approvals/request.ts";
import type { ResultInit } from "../../../../engine/log/result.ts";
import { messageText } from "../../../../engine/sessions/message-text.ts";
import type { Grant } from "../grant.ts";
import type { StateScope } from "../scope.ts";
import { loggedArtifact } from "./artifact.ts";
import { historyEffect, type ResultEffect, type RunnerEnd } from "./effect.ts";
import { quote } from "./members.ts";
import type { Output, TakenChunk } from "./output.ts";
import { refuseMessage, type TakenPayload } from "./policy.ts";
import type { CompletedPayload, FailedPayload } from "./read-payload.ts";
import type { Disposition } from "./verdict.ts";

/** The outcome of a result. */
export interface Applied {
  readonly disposition: Disposition;
  readonly warnings?: readonly string[];
  readonly payload?: NonNullable<ResultInit["payload"]>;
  /** An entry of the host that follows directly. */
  readonly follow?: NonNullable<ResultInit["payload"]>;
  readonly effect?: ResultEffect | undefined;
  readonly end?: RunnerEnd;
}

/** The number and the usage of a result. */
export interface Counted {
  readonly runnerSequence: bigint;
  readonly usage: ResultInit["usage"];
}

/** Options of `applyPayload`. */
export interface ApplyOptions {
  readonly grant: Grant;
  /** Records the output of the run. */
  readonly output: Output;
  readonly stampApproval: () => ApprovalStamp;
  readonly isCancelled: boolean;
}

/** Returns the outcome of a valid and allowed payload. */
export function applyPayload(payload: TakenPayload, counted: Counted, options: ApplyOptions): Applied {
  const { grant, output } = options;
  switch (payload.kind) {
    case "piece":
      return applyChunk(payload.taken, grant, output);
    case "message":
      output.addMessage(payload.message);
      return {
        disposition: "applied",
        warnings: payload.warnings ?? [],
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
      return { disposition: "telemetry", warnings: payload.warnings ?? [], payload: payload.payload };
    case "unknown":
      return {
        disposition: "ignored_unknown",
        warnings: ["unknown type: kept unchanged", ...(payload.warnings ?? [])],
        payload: payload.payload,
      };
    case "completed":
      return completeRun(payload, counted, grant, output);
    case "failed":
      return { disposition: "applied", warnings: warnOfCancel(payload, options), end: { ...payload, ...counted } };
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

/** The log ends every cancelled run in the same way, so the runner's code and error are only in a warning. */
function warnOfCancel({ code, error }: FailedPayload, { isCancelled }: ApplyOptions): string[] {
  return isCancelled
    ? [`the run was cancelled: the host's code and error replace ${quote(code)}: ${quote(error)}`]
    : [];
}

function applyChunk(taken: TakenChunk, grant: Grant, output: Output): Applied {
  // Once per run: a capability is not a permission, and one warning says as much as hundreds.
  const isOdd = !grant.announcesStreaming && !output.hasStreamed;
  output.addChunk(taken);
  return {
    disposition: "applied",
    warnings: isOdd ? ["the manifest does not announce streaming: set its capability"] : [],
    payload: { case: "messageDelta", value: { chunk: taken.chunk } },
  };
}

/** Records the action. The host never executes it; the runner may, after an approval if the binding requires one. */
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
  { finishReason, message: reported, warnings = [] }: CompletedPayload,
  counted: Counted,
  grant: Grant,
  output: Output,
): Applied {
  const refusal = reported && refuseMessage(messageText(reported), grant);
  const message = refusal === undefined ? reported : undefined;
  const isSilent = reported === undefined && output.isEmpty;
  return {
    disposition: "applied",
    warnings: [
      ...warnings,
      ...(refusal === undefined ? [] : [`message left out: ${refusal}`]),
      ...(isSilent ? ["empty_output"] : []),
    ],
    effect: rememberLast(message, grant, output),
    end: { kind: "completed", finishReason, ...lastWords(message, grant, output), ...counted },
  };
}

/** Returns what the transcript does not have yet: the last message, or text that was only streamed. */
function rememberLast(message: Message | undefined, { delivery }: Grant, output: Output): ResultEffect | undefined {
  if (message !== undefined) {
    return output.repeats(message) ? undefined : historyEffect(message);
  }
  const text = delivery.reply ? output.text : "";
  return text === "" ? undefined : historyEffect(create(MessageSchema, { role: "assistant", content: asText(text) }));
}

/** Returns the last message that the runner reported. Text that was only streamed is the output, not a message. */
function lastWords(message: Message | undefined, { delivery }: Grant, output: Output) {
  if (message !== undefined || !delivery.reply) {
    return { message };
  }
  return { message: output.lastMessage, output: output.text };
}

function asText(value: string): Message["content"] {
  return { case: "text", value };
}
