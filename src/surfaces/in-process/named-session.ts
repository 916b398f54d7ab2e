// Sessions that callers name, by a header or an id of their own. A history that differs from the transcript continues in a fork: the
// branches of a name are numbered, and the newest one is the session of the name.

import { createHash } from "node:crypto";
import type { Session } from "#gen/runnel/v1/session_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { isReason } from "../rest/failure.ts";
import type { Calls } from "./calls.ts";

/** The newest branch of a name. */
export interface Branch {
  readonly sessionId: string;
  readonly number: number;
  readonly latestRunId: string;
  /** Name of the agent that has the conversation. */
  readonly agentName: string;
}

/** Returns the id of the session of a name, or of one of its branches: `name_fork2`. Names that no session can have are hashed. */
export function branchIdOf(name: string, number = 0): string {
  const first = /^[A-Za-z0-9_-]{1,100}$/.test(name)
    ? name
    : `thread_${createHash("sha256").update(name).digest("hex")}`;
  return number === 0 ? first : `${first}_fork${number}`;
}

/** Returns the newest branch of a name; undefined for a name that the caller has no session of. */
export async function findBranch(calls: Calls, name: string): Promise<Branch | undefined> {
  let newest: Branch | undefined;
  for (let number = 0; ; number++) {
    const sessionId = branchIdOf(name, number);
    const session = await findSession(calls, sessionId);
    if (session === undefined) {
      return newest;
    }
    newest = { sessionId, number, latestRunId: session.latestRunId, agentName: session.name };
  }
}

async function findSession(calls: Calls, sessionId: string): Promise<Session | undefined> {
  try {
    return (await calls.call(SessionService.method.getSession, { sessionId })).session;
  } catch (error) {
    if (isReason(error, "SESSION_NOT_FOUND")) {
      return undefined;
    }
    throw error;
  }
}
