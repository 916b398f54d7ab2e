// The first message of a new session.

import { reasonOf, type SessionClient } from "./connect.ts";

/** Sends the first message of a session. When it is refused, no empty session is left behind. */
export async function sendFirst<T>(
  sessions: SessionClient,
  sessionId: string,
  send: (sessionId: string) => Promise<T>,
): Promise<T> {
  try {
    return await send(sessionId);
  } catch (error) {
    if (reasonOf(error) !== undefined) {
      // The caller needs the refusal, also when the session stays.
      await sessions.deleteSession({ sessionId }).catch(() => {});
    }
    throw error;
  }
}
