// WatchApprovals: the approvals of a client as they change.

import { create } from "@bufbuild/protobuf";
import {
  type WatchApprovalsRequest,
  type WatchApprovalsResponse,
  WatchApprovalsResponseSchema,
} from "#gen/runnel/runner/v1/approval_service_pb.js";
import { rowsPerLook, type Watch, watch } from "../../../api/watch.ts";
import { approvalToProto } from "../runners/approval.ts";
import { listApprovalsToWatch, type WatchedApproval } from "../storage/approval.ts";
import type { LangbotDeps } from "./deps.ts";

/**
 * Yields the changes of a client's approvals. A response without an approval opens the stream and keeps it alive.
 * @throws those of `watch`.
 */
export async function* watchApprovals(
  deps: LangbotDeps,
  client: string,
  { runId, after }: WatchApprovalsRequest,
  reader: AbortSignal,
): AsyncGenerator<WatchApprovalsResponse> {
  const watched: Watch<WatchedApproval> = {
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
  };
  for await (const { cursor, rows } of watch(deps, watched, reader)) {
    if (rows.length === 0) {
      yield create(WatchApprovalsResponseSchema);
    }
    for (const row of rows) {
      const approval = approvalToProto(row);
      yield create(WatchApprovalsResponseSchema, { cursor, change: { case: "approval", value: approval } });
    }
  }
}
