// Starts a run of a schedule: in its session, or in a new one, which a refused message leaves no trace of.

import { create, fromBinary } from "@bufbuild/protobuf";
import { ScheduleSchema } from "#gen/runnel/v1/schedule_pb.js";
import {
  CreateSessionRequestSchema,
  SendMessageRequestSchema,
  type SendMessageResponse,
} from "#gen/runnel/v1/session_service_pb.js";
import type { ScheduleRow } from "../engine/storage/schedule.ts";
import { inTransaction } from "../platform/database/in-transaction.ts";
import type { ServiceDeps } from "./deps.ts";
import { sendWithin } from "./send-message.ts";
import { createSessionWithin } from "./session-service.ts";

/**
 * Sends the message of a schedule. Calls with the same request id start one run.
 * @throws Fault those of `createSessionWithin` and `sendWithin`.
 */
export async function startScheduled(
  deps: ServiceDeps,
  { client, spec }: Pick<ScheduleRow, "client" | "spec">,
  requestId: string,
): Promise<SendMessageResponse> {
  const schedule = fromBinary(ScheduleSchema, spec);
  const session = { ...(schedule.session ?? create(CreateSessionRequestSchema)), requestId };
  return await inTransaction(deps.db, async (trx) => {
    const sessionId = schedule.sessionId || (await createSessionWithin(trx, deps, client, session)).sessionId;
    const message = { ...(schedule.message ?? create(SendMessageRequestSchema)), sessionId, requestId };
    return await sendWithin(trx, deps, client, message, undefined);
  });
}
