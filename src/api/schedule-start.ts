// Starts a run of a schedule: in its session, or in a new one.

import { create, fromBinary } from "@bufbuild/protobuf";
import { ScheduleSchema } from "#gen/runnel/v1/schedule_pb.js";
import {
  CreateSessionRequestSchema,
  SendMessageRequestSchema,
  type SendMessageResponse,
} from "#gen/runnel/v1/session_service_pb.js";
import type { ScheduleRow } from "../engine/storage/schedule.ts";
import type { ServiceDeps } from "./deps.ts";
import { sendMessage } from "./send-message.ts";
import { createSession } from "./session-service.ts";

/**
 * Sends the message of a schedule. Calls with the same request id start one run.
 * @throws Fault those of `createSession` and `sendMessage`.
 */
export async function startScheduled(
  deps: ServiceDeps,
  { client, spec }: Pick<ScheduleRow, "client" | "spec">,
  requestId: string,
): Promise<SendMessageResponse> {
  const schedule = fromBinary(ScheduleSchema, spec);
  const session = { ...(schedule.session ?? create(CreateSessionRequestSchema)), requestId };
  const sessionId = schedule.sessionId || (await createSession(deps, client, session)).sessionId;
  const message = { ...(schedule.message ?? create(SendMessageRequestSchema)), sessionId, requestId };
  return await sendMessage(deps, client, message, undefined);
}
