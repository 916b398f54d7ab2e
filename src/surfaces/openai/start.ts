// Starts the run of a response: in a session of its own, in a conversation, or after the previous response.

import { createHash } from "node:crypto";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import type { Calls } from "../in-process/calls.ts";
import { idempotencyKeyOf, type Visit } from "../in-process/visit.ts";
import { isReason } from "../rest/failure.ts";
import { annotate } from "./echo.ts";
import { responseIdOf } from "./ids.ts";
import { type Asked, previousNotFound } from "./response-request.ts";
import { noTools } from "./tools.ts";

const sessions = SessionService.method;
const runs = RunService.method;

/** The run of a response. */
export interface Started {
  readonly runId: string;
  readonly sessionId: string;
}

/** Starts the run: in a session of its own, in the conversation, or after the previous response. */
export async function start(visit: Visit, asked: Asked): Promise<Started> {
  const { calls } = visit;
  const key = idempotencyKeyOf(visit);
  const send = (sessionId: string, more: { afterRunId?: string; requestId: string }): Promise<Started> =>
    calls.call(sessions.sendMessage, {
      sessionId,
      messages: [...asked.messages],
      agent: asked.agent,
      annotations: annotate(asked.echo),
      ...more,
    });
  if (asked.conversation !== undefined) {
    return await send(asked.conversation, { requestId: key });
  }
  if (asked.previousRunId !== undefined) {
    return await follow(calls, asked.previousRunId, key, send);
  }
  const { sessionId } = await calls.call(sessions.createSession, {
    agent: newAgent,
    workDir: asked.workDir,
    requestId: key,
  });
  return await send(sessionId, { requestId: key });
}

/** The agent of sessions that this surface makes. Its runs may use tools many times. */
export const newAgent = { name: "openai", maxTurns: 100, tools: noTools };

/** Continues the session of a response while that is its newest run, else a fork of it. */
async function follow(
  calls: Calls,
  runId: string,
  key: string,
  send: (sessionId: string, more: { afterRunId?: string; requestId: string }) => Promise<Started>,
): Promise<Started> {
  const { run } = await calls.call(runs.getRun, { runId }).catch((error: unknown) => {
    throw isReason(error, "RUN_NOT_FOUND") ? previousNotFound(responseIdOf(runId)) : error;
  });
  const sessionId = run?.sessionId ?? "";
  try {
    return await send(sessionId, { afterRunId: runId, requestId: key });
  } catch (error) {
    if (!isReason(error, "SESSION_MOVED", "SESSION_BUSY")) {
      throw isReason(error, "SESSION_NOT_FOUND") ? previousNotFound(responseIdOf(runId)) : error;
    }
  }
  // Another id than that of the first attempt, which may have been answered.
  const requestId = key === "" ? "" : `fork ${createHash("sha256").update(key).digest("hex")}`;
  const fork = { sessionId, runId };
  const forked = await calls.call(sessions.createSession, { fork, requestId });
  return await send(forked.sessionId, { requestId });
}
