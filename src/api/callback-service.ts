// CallbackService: lists the status callbacks of sessions and redelivers them.

import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { type StatusCallback, StatusCallback_State, StatusCallbackSchema } from "#gen/runnel/v1/callback_pb.js";
import type { CallbackService } from "#gen/runnel/v1/callback_service_pb.js";
import { Session_State } from "#gen/runnel/v1/session_pb.js";
import { announceCallback } from "../engine/runs/callback.ts";
import { type ClientCallback, listCallbacks, redeliverCallback } from "../engine/storage/callback.ts";
import type { CallbackState, CallbackStatus } from "../engine/storage/schema.ts";
import { requireClient } from "../platform/auth/caller.ts";
import { Fault } from "../platform/base/fault.ts";
import type { ServiceDeps } from "./deps.ts";
import { nextPageToken, pageSize } from "./page.ts";

/** Returns the handlers of CallbackService. */
export function createCallbackService(deps: ServiceDeps): ServiceImpl<typeof CallbackService> {
  const { db, cursors, wakeup } = deps;
  return {
    listCallbacks: async ({ sessionId, state, pageSize: requested, pageToken }, context) => {
      const { client } = requireClient(context.values);
      const scope = ["callbacks", client, sessionId, String(state)];
      const limit = pageSize(requested);
      const position = cursors.decode(scope, pageToken);
      const rows = await listCallbacks(db, {
        client,
        sessionName: sessionId === "" ? undefined : sessionId,
        state: storedStates[state],
        before: position === undefined ? undefined : Number(position),
        limit,
      });
      return {
        callbacks: rows.map(callbackToProto),
        nextPageToken: nextPageToken(rows, limit, (last) => cursors.encode(scope, String(last.position))),
      };
    },
    redeliverCallback: async ({ callbackId: id }, context) => {
      const { client } = requireClient(context.values);
      const row = await db.transaction().execute((trx) => redeliverCallback(trx, { client, id }));
      if (row === undefined) {
        throw new Fault("CALLBACK_NOT_FOUND", "callback not found");
      }
      announceCallback(wakeup, row.base_url);
      return { callback: callbackToProto(row) };
    },
  };
}

const storedStates = {
  [StatusCallback_State.UNSPECIFIED]: undefined,
  [StatusCallback_State.PENDING]: "pending",
  [StatusCallback_State.DELIVERED]: "delivered",
  [StatusCallback_State.DEAD]: "dead",
} as const satisfies Record<StatusCallback_State, CallbackState | undefined>;

const shownStates = {
  pending: StatusCallback_State.PENDING,
  delivered: StatusCallback_State.DELIVERED,
  dead: StatusCallback_State.DEAD,
} as const satisfies Record<CallbackState, StatusCallback_State>;

const shownStatuses = {
  created: Session_State.CREATED,
  running: Session_State.RUNNING,
  completed: Session_State.COMPLETED,
  failed: Session_State.FAILED,
  cancelled: Session_State.CANCELLED,
} as const satisfies Record<CallbackStatus, Session_State>;

function callbackToProto(row: ClientCallback): StatusCallback {
  return create(StatusCallbackSchema, {
    callbackId: row.id,
    sessionId: row.session_name,
    runId: row.run_id ?? "",
    sessionState: shownStatuses[row.status],
    sequence: BigInt(row.sequence),
    state: shownStates[row.state],
    baseUrl: row.base_url,
    attempts: row.attempts,
    lastError: row.last_error ?? "",
    createTime: timestampFromDate(row.create_time),
    ...(row.state === "pending" && { nextAttemptTime: timestampFromDate(row.due_time) }),
    ...(row.end_time !== null && { endTime: timestampFromDate(row.end_time) }),
  });
}
