// Sessions that last as long as a call: for APIs whose callers send the whole conversation each time.

import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  type CreateSessionRequestSchema,
  type SendMessageRequestSchema,
  SessionService,
} from "#gen/runnel/v1/session_service_pb.js";
import { isReason } from "../rest/failure.ts";
import type { Calls } from "./calls.ts";

const sessions = SessionService.method;

/** The session, and the message that starts its run. */
export interface PassingRun {
  readonly session: MessageInitShape<typeof CreateSessionRequestSchema>;
  readonly message: MessageInitShape<typeof SendMessageRequestSchema>;
}

/**
 * Starts a run in a session of its own, and deletes the session after `answer`. That cancels a run that has not ended. With a key the same
 * request comes back to the session after a refusal, and to the run after a lost connection: only an answer deletes the session.
 */
export async function answerOverPassingRun(
  calls: Calls,
  { session, message }: PassingRun,
  answer: (runId: string) => Promise<void>,
): Promise<void> {
  const { sessionId } = await calls.call(sessions.createSession, session);
  let isOver = (session.requestId ?? "") === "";
  try {
    const { runId } = await calls.call(sessions.sendMessage, { ...message, sessionId });
    await answer(runId);
    isOver = true;
  } finally {
    if (isOver) {
      // Also when the caller has left: the call must not be cut off with it. A later attempt finds the session deleted.
      await calls.call(sessions.deleteSession, { sessionId }, { outlives: true }).catch(ignoreDeleted);
    }
  }
}

function ignoreDeleted(error: unknown): void {
  if (!isReason(error, "SESSION_NOT_FOUND", "DATABASE_UNAVAILABLE")) {
    throw error;
  }
}
