// Approvals as elicitations: a form for the client's people. The id of the approval names the question, so nothing is stored. A form of
// a server is asked as the server wrote it.

import type { MessageInitShape } from "@bufbuild/protobuf";
import { type Approval, Approval_Decision, Approval_State } from "#gen/runnel/v1/approval_pb.js";
import { ApprovalService, type DecideApprovalRequestSchema } from "#gen/runnel/v1/approval_service_pb.js";
import { isObject, parseObject } from "../../platform/base/json/parse-object.ts";
import { pageSizeMax } from "../../platform/base/lists.ts";
import type { Calls } from "../in-process/calls.ts";
import { isReason } from "../rest/failure.ts";

const { listApprovals, getApproval, decideApproval } = ApprovalService.method;

/** A question to the client's people. */
export interface Elicitation {
  readonly method: "elicitation/create";
  readonly params: object;
}

/** Returns the questions of a run that waits, by the ids of its approvals. */
export async function listQuestions(calls: Calls, runId: string): Promise<Readonly<Record<string, Elicitation>>> {
  const request = { runId, state: Approval_State.PENDING, pageSize: pageSizeMax };
  const { approvals } = await calls.call(listApprovals, request);
  const questions: Record<string, Elicitation> = {};
  for (const { approvalId } of approvals.toReversed()) {
    const { approval } = await calls.call(getApproval, { approvalId });
    if (approval !== undefined) {
      questions[approvalId] = questionOf(approval);
    }
  }
  return questions;
}

/** Decides the approvals that a client answers. An unknown key, a decided approval and a closed form change nothing. */
export async function decideAll(calls: Calls, runId: string, responses: unknown): Promise<void> {
  for (const [approvalId, response] of Object.entries(isObject(responses) ? responses : {})) {
    await decide(calls, runId, approvalId, response);
  }
}

/** Decides an approval of a run. `runId` is undefined where the id of the approval is all that the client sends. */
export async function decide(
  calls: Calls,
  runId: string | undefined,
  approvalId: string,
  response: unknown,
): Promise<void> {
  try {
    const { approval } = await calls.call(getApproval, { approvalId });
    if (approval?.state !== Approval_State.PENDING || (runId !== undefined && approval.runId !== runId)) {
      return;
    }
    const { digest, form } = approval;
    const decided = form === undefined ? decisionOf(response) : valuesOf(response);
    if (decided !== undefined) {
      await calls.call(decideApproval, { approvalId, digest, ...decided });
    }
  } catch (error) {
    if (!isReason(error, "APPROVAL_NOT_FOUND", "APPROVAL_DECIDED", "APPROVAL_EXPIRED", "INVALID_ARGUMENT")) {
      throw error;
    }
  }
}

function questionOf({ action, request = "", form }: Approval): Elicitation {
  if (form !== undefined) {
    const { payload, target } = parseObject(request) ?? {};
    const message = isObject(payload) ? String(payload.message) : "";
    return {
      method: "elicitation/create",
      params: { mode: "form", message: `${String(target)} asks: ${message}`, requestedSchema: JSON.parse(form) },
    };
  }
  const shown = request.length > requestCharsMax ? `${request.slice(0, requestCharsMax)}…` : request;
  return {
    method: "elicitation/create",
    params: {
      mode: "form",
      message: `The agent asks for your approval of ${action}: ${shown}`,
      requestedSchema: {
        type: "object",
        properties: {
          confirm: { type: "boolean", title: "Approve", description: "True allows the action once." },
          comment: { type: "string", title: "Comment", description: "For the agent.", maxLength: commentCharsMax },
        },
        required: ["confirm"],
      },
    },
  };
}

/** People read the question in a dialogue. */
const requestCharsMax = 2_000;
const commentCharsMax = 1_024;

type Decided = Pick<MessageInitShape<typeof DecideApprovalRequestSchema>, "decision" | "comment" | "values">;

/** Returns undefined for a form that the person has closed: nothing is decided. */
function decisionOf(response: unknown): Decided | undefined {
  const { action, content } = isObject(response) ? response : {};
  const comment = commentOf(response);
  if (action === "decline") {
    return { decision: Approval_Decision.REJECT, comment };
  }
  const confirm = action === "accept" && isObject(content) ? content.confirm : undefined;
  if (typeof confirm !== "boolean") {
    return undefined;
  }
  return { decision: confirm ? Approval_Decision.APPROVE : Approval_Decision.REJECT, comment };
}

/** Returns the answer to a form of a server; undefined for one that the person has closed. */
function valuesOf(response: unknown): Decided | undefined {
  const { action, content } = isObject(response) ? response : {};
  switch (action) {
    case "accept":
      return { decision: Approval_Decision.APPROVE, values: JSON.stringify(content ?? {}) };
    case "decline":
      return { decision: Approval_Decision.REJECT };
    default:
      return undefined;
  }
}

function commentOf(response: unknown): string {
  const content = isObject(response) && isObject(response.content) ? response.content : {};
  const { comment } = content;
  return typeof comment === "string" ? comment.toWellFormed().replaceAll("\0", "").slice(0, commentCharsMax) : "";
}
