// The first message of a session that a surface has just made for it.

import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { describeFailure } from "../rest/failure.ts";
import type { Calls } from "./calls.ts";

/**
 * Sends the first message of a session. When it is refused, no empty session is left behind: callers repeat refused calls, each in a new
 * session, and an empty fork would take the place of its conversation. A session that has the message of another call by now stays.
 */
export async function sendFirst<T>(calls: Calls, sessionId: string, send: () => Promise<T>): Promise<T> {
  try {
    return await send();
  } catch (error) {
    const { reason, httpStatus } = describeFailure(error);
    if (reason !== undefined && httpStatus < 500) {
      // The caller needs the refusal, also when the session stays.
      await deleteUnused(calls, sessionId).catch(() => {});
    }
    throw error;
  }
}

async function deleteUnused(calls: Calls, sessionId: string): Promise<void> {
  const outlives = { outlives: true };
  const { runs } = await calls.call(RunService.method.listRuns, { sessionId, pageSize: 1 }, outlives);
  if (runs.length === 0) {
    await calls.call(SessionService.method.deleteSession, { sessionId }, outlives);
  }
}
