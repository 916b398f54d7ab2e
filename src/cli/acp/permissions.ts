// The approvals that a run asks for, as requests for permission. The decision names the digest of the request that the editor showed.

import type { AgentContext, RequestPermissionRequest } from "@agentclientprotocol/sdk";
import { Approval_Decision, Approval_State } from "#gen/runnel/v1/approval_pb.js";
import { ApprovalService } from "#gen/runnel/v1/approval_service_pb.js";
import type { ApprovalRequested, RunResult } from "#gen/runnel/v1/result_pb.js";
import type { Service } from "../connect.ts";
import { explain } from "../failure.ts";
import { callPatiently } from "../follow.ts";
import { sayLine } from "../terminal.ts";
import { viewOfCall } from "./tool-calls.ts";

/** Where to ask, and for which run. */
export interface PermissionContext {
  readonly service: Service;
  readonly client: AgentContext;
  readonly sessionId: string;
  readonly directory: string | undefined;
  /** Returns the editor's id of a call. */
  readonly idOf: (toolCallId: string) => string;
}

/** The open requests of a run. Closing withdraws them: the run has ended, or the editor is gone. */
export class Permissions implements Disposable {
  readonly #context: PermissionContext;
  /** By the id of the call. */
  readonly #open = new Map<string, AbortController>();

  constructor(context: PermissionContext) {
    this.#context = context;
  }

  /** Asks for what a result requests. Withdraws the request of a call that has ended: another place has decided. */
  take({ payload }: RunResult): void {
    if (payload.case === "approvalRequested") {
      const { toolCallId, approvalId } = payload.value;
      const withdrawn = new AbortController();
      this.#open.set(toolCallId, withdrawn);
      void this.#ask(payload.value, withdrawn.signal).catch((error: unknown) => {
        if (!withdrawn.signal.aborted) {
          sayLine(`approval ${approvalId}: ${explain(error).error}; runnel approvals show ${approvalId}`);
        }
      });
    } else if (payload.case === "toolCallCompleted") {
      this.#open.get(payload.value.toolCallId)?.abort();
    }
  }

  [Symbol.dispose](): void {
    for (const withdrawn of this.#open.values()) {
      withdrawn.abort();
    }
  }

  async #ask(asked: ApprovalRequested, signal: AbortSignal): Promise<void> {
    const { service, client } = this.#context;
    const approvals = service.client(ApprovalService);
    const { approvalId, digest } = asked;
    const { approval } = await callPatiently(() => approvals.getApproval({ approvalId }), signal);
    if (approval?.state !== Approval_State.PENDING) {
      return;
    }
    if (approval.form !== undefined) {
      sayLine(`a server asks for a form: runnel approvals approve ${approvalId}`);
      return;
    }
    const { outcome } = await client.request("session/request_permission", this.#requestOf(asked), {
      cancellationSignal: signal,
      stopWaitingOnCancel: true,
    });
    if (outcome.outcome === "selected") {
      const decision = outcome.optionId === allow ? Approval_Decision.APPROVE : Approval_Decision.REJECT;
      await callPatiently(() => approvals.decideApproval({ approvalId, digest, decision }), signal);
    }
  }

  #requestOf({ toolCallId, toolName, parameters }: ApprovalRequested): RequestPermissionRequest {
    const { sessionId, directory, idOf } = this.#context;
    const view = viewOfCall(toolName, parameters, directory);
    return {
      sessionId,
      toolCall: { toolCallId: idOf(toolCallId), name: toolName, status: "pending", ...view },
      options: [
        { optionId: allow, name: "Allow once", kind: "allow_once" },
        { optionId: "reject", name: "Reject", kind: "reject_once" },
      ],
    };
  }
}

const allow = "allow";
