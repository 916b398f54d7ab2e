// ApprovalService: the approvals that runs request, and the decisions of their client.

import type { ServiceImpl } from "@connectrpc/connect";
import { Approval_Decision, type Approval_State } from "#gen/runnel/v1/approval_pb.js";
import type { ApprovalService } from "#gen/runnel/v1/approval_service_pb.js";
import { approvalStates, approvalToProto, decide, requireApproval } from "../engine/approvals/decide.ts";
import { type ApprovalState, listApprovals } from "../engine/storage/approval.ts";
import { clientIdOf, requireClient } from "../platform/auth/caller.ts";
import type { ServiceDeps } from "./deps.ts";
import { checkValues } from "./form-values.ts";
import { nextPageToken, pageSize } from "./page.ts";
import { watchApprovals } from "./watch-approvals.ts";

/** Creates the handlers of ApprovalService. */
export function createApprovalService(deps: ServiceDeps): ServiceImpl<typeof ApprovalService> {
  const { db, cursors } = deps;
  return {
    listApprovals: async (request, { values }) => {
      const { client } = requireClient(values);
      const { runId } = request;
      const scope = ["approvals", client, runId, String(request.state)];
      const limit = pageSize(request.pageSize);
      const rows = await listApprovals(db, {
        client,
        runId: runId === "" ? undefined : runId,
        state: stateOf(request.state),
        before: cursors.decode(scope, request.pageToken),
        limit,
      });
      return {
        approvals: rows.map(approvalToProto),
        nextPageToken: nextPageToken(rows, limit, ({ id }) => cursors.encode(scope, id)),
      };
    },
    watchApprovals: (request, { values, signal }) =>
      watchApprovals(deps, requireClient(values).client, request, signal),
    getApproval: async ({ approvalId: id }, { values }) => {
      const { client } = requireClient(values);
      return { approval: approvalToProto(await requireApproval(db, { client, id })) };
    },
    decideApproval: async ({ approvalId: id, decision, digest, comment, decidedBy, values }, context) => {
      const { client } = requireClient(context.values);
      if (decision === Approval_Decision.APPROVE || values !== "") {
        const { form } = await requireApproval(db, { client, id });
        checkValues(form, values);
      }
      const row = await decide(deps, {
        client,
        id,
        digest,
        // Request validation admits only APPROVE and REJECT.
        decision: decision === Approval_Decision.APPROVE ? "approve" : "reject",
        decidedBy: decidedBy || clientIdOf(client),
        comment,
        values: values || undefined,
      });
      return { approval: approvalToProto(row) };
    },
  };
}

/** Returns undefined for UNSPECIFIED, which selects approvals in all states. */
function stateOf(wanted: Approval_State): ApprovalState | undefined {
  const states = Object.entries(approvalStates) as [ApprovalState, Approval_State][];
  return states.find(([, state]) => state === wanted)?.[0];
}
