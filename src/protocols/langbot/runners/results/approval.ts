// What somebody has to approve: one `action.requested`, and a digest of it, so that nothing else is approved in its place.

import { createHash } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { type ActionRequested, type ApprovalRequested, ApprovalRequestedSchema } from "#gen/runnel/v1/result_pb.js";
import { firstCharacters } from "../event-message.ts";

export interface NewApproval {
  readonly approvalId: string;
  readonly runnerSequence: bigint;
  /** The beginning of it, for people. */
  readonly action: string;
  /** All that is asked for, as JSON. */
  readonly request: string;
  /** SHA-256 of the request, lower-case hex. */
  readonly digest: string;
  readonly expireMs: number;
}

/** What an approval has of the moment in which it is asked for. */
export interface ApprovalStamp {
  readonly approvalId: string;
  readonly createMs: number;
}

export interface ApprovalTerms {
  readonly expireSeconds: number;
  readonly runnerSequence: bigint;
  readonly stamp: ApprovalStamp;
}

/** `action` may be as long as a result. */
const actionCharsMax = 1_024;

export function askForApproval(action: ActionRequested, terms: ApprovalTerms): NewApproval {
  const { approvalId, createMs } = terms.stamp;
  const request = requestOf(action);
  return {
    approvalId,
    runnerSequence: terms.runnerSequence,
    // Postgres keeps no text with a NUL in it.
    action: firstCharacters(action.action, actionCharsMax).replaceAll("\0", "\ufffd"),
    request,
    digest: createHash("sha256").update(request).digest("hex"),
    expireMs: createMs + terms.expireSeconds * 1_000,
  };
}

export function loggedApproval({
  approvalId,
  action,
  digest,
  expireMs,
  runnerSequence,
}: NewApproval): ApprovalRequested {
  const actionSequence = runnerSequence;
  return create(ApprovalRequestedSchema, {
    approvalId,
    action,
    digest,
    expireTime: timestampFromMs(expireMs),
    actionSequence,
    parameters: "{}",
  });
}

/** Without blanks, the members in one order; what the runner wrote in target and payload stays as it is. */
function requestOf({ action, target, payload }: ActionRequested): string {
  const members = [
    ["action", JSON.stringify(action)] as const,
    ["target", target] as const,
    ["payload", payload] as const,
  ];
  const told = members.filter(([, json]) => json !== undefined).map(([name, json]) => `"${name}":${json}`);
  return `{${told.join(",")}}`;
}
