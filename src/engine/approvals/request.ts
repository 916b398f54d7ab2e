// A request for the approval of one action of a runner, or of one tool call. Its digest prevents the approval of anything else in
// its place.

import { createHash } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { type ApprovalRequested, ApprovalRequestedSchema } from "#gen/runnel/v1/result_pb.js";
import { firstCharacters } from "../../platform/base/first-characters.ts";
import type { NewApproval } from "../storage/approval.ts";

/** What a person is asked for. */
export interface AskedAction {
  readonly action: string;
  /** The target as JSON; undefined without one. */
  readonly target?: string | undefined;
  /** The arguments as JSON; undefined without any. */
  readonly payload?: string | undefined;
}

/** The id and the time of a request. */
export interface ApprovalStamp {
  readonly approvalId: string;
  readonly createMs: number;
}

/** The terms of a request. */
export interface ApprovalTerms extends Pick<NewApproval, "runnerSequence" | "toolCallId"> {
  readonly expireSeconds: number;
  readonly stamp: ApprovalStamp;
}

/** The maximum characters of the shown action. The action itself may be as long as a result. */
const actionCharsMax = 1_024;

/** Creates a request for approval. */
export function askForApproval(asked: AskedAction, { stamp, expireSeconds, ...of }: ApprovalTerms): NewApproval {
  const { approvalId, createMs } = stamp;
  const request = requestOf(asked);
  return {
    ...of,
    approvalId,
    // Postgres cannot store NUL in text.
    action: firstCharacters(asked.action, actionCharsMax).replaceAll("\0", "\ufffd"),
    request,
    digest: createHash("sha256").update(request).digest("hex"),
    expireMs: createMs + expireSeconds * 1_000,
  };
}

/** Returns the log entry of a request. */
export function loggedApproval({
  approvalId,
  action,
  digest,
  expireMs,
  runnerSequence = 0n,
}: NewApproval): ApprovalRequested {
  return create(ApprovalRequestedSchema, {
    approvalId,
    action,
    digest,
    expireTime: timestampFromMs(expireMs),
    actionSequence: runnerSequence,
    parameters: "{}",
  });
}

/**
 * Prints the request without white space and with its members in a fixed order. `target` and `payload` stay as they were
 * written.
 */
function requestOf({ action, target, payload }: AskedAction): string {
  const members = [
    ["action", JSON.stringify(action)] as const,
    ["target", target] as const,
    ["payload", payload] as const,
  ];
  const present = members.filter(([, json]) => json !== undefined).map(([name, json]) => `"${name}":${json}`);
  return `{${present.join(",")}}`;
}
