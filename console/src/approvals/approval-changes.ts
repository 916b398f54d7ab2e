// The approvals of this client as runs ask for them, and as they are decided, used or expire.

import type { Approval } from "#gen/runnel/v1/approval_pb.js";
import { Approval_State } from "#gen/runnel/v1/approval_pb.js";
import { ApprovalService } from "#gen/runnel/v1/approval_service_pb.js";
import { Changes } from "../lib/changes.ts";

/** The changes that this page knows. A new stream begins with everything that waits. */
export const approvalChanges = new Changes({
  method: ApprovalService.method.watchApprovals,
  itemOf: ({ change }) => (change.case === "approval" ? change.value : undefined),
  idOf: ({ approvalId }) => approvalId,
  request: {},
});

export function isPending({ state }: Approval): boolean {
  return state === Approval_State.PENDING;
}

/** Merges the pages of the list with what has changed since: those that wait come first, then the newest. */
export function mergeApprovals(listed: readonly Approval[], changed: ReadonlyMap<string, Approval>): Approval[] {
  const all = new Map(listed.map((approval) => [approval.approvalId, approval]));
  // An older one that has changed is on a page that is not loaded, unless it waits.
  const oldest = listed.at(-1)?.approvalId ?? "";
  for (const [id, approval] of changed) {
    if (all.has(id) || isPending(approval) || id > oldest) {
      all.set(id, approval);
    }
  }
  return [...all.values()].sort(
    (one, other) => Number(isPending(other)) - Number(isPending(one)) || (one.approvalId < other.approvalId ? 1 : -1),
  );
}
