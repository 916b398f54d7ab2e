// The first message of a session that a surface has just made for it.

import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { describeFailure } from "../rest/failure.ts";
import type { Calls } from "./calls.ts";

/**
 * Sends the first message of a session that no other caller knows. When it is refused, no empty session is left behind: callers repeat
 * refused calls, each in a new session.
 */
export async function sendFirst<T>(calls: Calls, sessionId: string, send: () => Promise<T>): Promise<T> {
  try {
    return await send();
  } catch (error) {
    const { reason, httpStatus } = describeFailure(error);
    if (reason !== undefined && httpStatus < 500) {
      // The caller needs the refusal, also when the session stays.
      await calls.call(SessionService.method.deleteSession, { sessionId }, { outlives: true }).catch(() => {});
    }
    throw error;
  }
}
