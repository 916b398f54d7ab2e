// Begins a session by its first message.

import type { MessageInitShape } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import {
  type CreateSessionRequestSchema,
  type SendMessageRequestSchema,
  SessionService,
} from "#gen/runnel/v1/session_service_pb.js";
import { transport } from "./transport.ts";

const sessions = createClient(SessionService, transport);

/** Creates a session with a run, and returns the run's id. When the message is refused, no empty session is left behind. */
export async function startRun(
  session: MessageInitShape<typeof CreateSessionRequestSchema>,
  message: MessageInitShape<typeof SendMessageRequestSchema>,
): Promise<string> {
  const { sessionId } = await sessions.createSession({ ...session, requestId: crypto.randomUUID() });
  try {
    const { runId } = await sessions.sendMessage({ ...message, sessionId, requestId: crypto.randomUUID() });
    return runId;
  } catch (error) {
    // The caller needs the refusal, also when the session stays.
    await sessions.deleteSession({ sessionId }).catch(() => undefined);
    throw error;
  }
}
