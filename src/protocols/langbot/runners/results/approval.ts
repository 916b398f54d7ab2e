// A request for approval of one `action.requested`. Its digest prevents the approval of anything else in its place.

import { createHash } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { type ActionRequested, type ApprovalRequested, ApprovalRequestedSchema } from "#gen/runnel/v1/result_pb.js";
import { firstCharacters } from "../event-message.ts";

/** A request for approval. */
export interface NewApproval {
  readonly approvalId: string;
  readonly runnerSequence: bigint;
  /** The beginning of the action, for people. */
  readonly action: string;
  /** The whole request as JSON. */
  readonly request: string;
  /** The SHA-256 of the request in lower-case hex. */
  readonly digest: string;
  readonly expireMs: number;
}

/** The id and the time of a request. */
export interface ApprovalStamp {
  readonly approvalId: string;
  readonly createMs: number;
}

/** The terms of a request. */
export interface ApprovalTerms {
  readonly expireSeconds: number;
  readonly runnerSequence: bigint;
  readonly stamp: ApprovalStamp;
}

/** The maximum characters of the shown action. The action itself may be as long as a result. */
const actionCharsMax = 1_024;

/** Creates a request for approval. */
export function askForApproval(action: ActionRequested, terms: ApprovalTerms): NewApproval {
  const { approvalId, createMs } = terms.stamp;
  const request = requestOf(action);
  return {
    approvalId,
    runnerSequence: terms.runnerSequence,
    // Postgres cannot store NUL in text.
    action: firstCharacters(action.action, actionCharsMax).replaceAll("\0", "\ufffd"),
    request,
    digest: createHash("sha256").update(request).digest("hex"),
    expireMs: createMs + terms.expireSeconds * 1_000,
  };
}

/** Returns the log entry of a request. */
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

/**
 * Prints the request without white space and with its members in a fixed order. `target` and `payload` stay as the runner wrote
 * them.
 */
function requestOf({ action, target, payload }: ActionRequested): string {
  const members = [
    ["action", JSON.stringify(action)] as const,
    ["target", target] as const,
    ["payload", payload] as const,
  ];
  const present = members.filter(([, json]) => json !== undefined).map(([name, json]) => `"${name}":${json}`);
  return `{${present.join(",")}}`;
}
