// WatchApprovals: the approvals of a client as they change.

import { create } from "@bufbuild/protobuf";
import {
  type WatchApprovalsRequest,
  type WatchApprovalsResponse,
  WatchApprovalsResponseSchema,
} from "#gen/runnel/v1/approval_service_pb.js";
import { approvalToProto } from "../engine/approvals/decide.ts";
import { listApprovalsToWatch, type WatchedApproval } from "../engine/storage/approval.ts";
import type { ServiceDeps } from "./deps.ts";
import { rowsPerLook, type Watch, watch } from "./watch.ts";

/**
 * Yields the changes of a client's approvals.
 * @throws those of `watch`.
 */
export function watchApprovals(
  deps: ServiceDeps,
  client: string,
  { runId, after }: WatchApprovalsRequest,
  reader: AbortSignal,
): AsyncGenerator<WatchApprovalsResponse> {
  const watched: Watch<WatchedApproval, WatchApprovalsResponse> = {
    client,
    scope: ["watch approvals", client, runId],
    after,
    look: async (settledSince) => ({
      rows: await listApprovalsToWatch(deps.db, {
        client,
        runId: runId || undefined,
        settledSince,
        limit: rowsPerLook,
      }),
    }),
    idOf: ({ id }) => id,
    stateOf: ({ state }) => state,
    settledTimeOf: (row) => row.settled_time,
    toMessages: async (rows, cursor) =>
      rows.map((row) =>
        create(WatchApprovalsResponseSchema, { cursor, change: { case: "approval", value: approvalToProto(row) } }),
      ),
    empty: () => create(WatchApprovalsResponseSchema),
  };
  return watch(deps, watched, reader);
}
