// Starts the run of a response: in a session of its own, in a conversation, after the previous response, or in the session that a
// header names.

import { createHash } from "node:crypto";
import type { Message } from "#gen/runnel/v1/message_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import type { Calls } from "../in-process/calls.ts";
import { sendFirst } from "../in-process/first-message.ts";
import { noTools } from "../in-process/no-tools.ts";
import { headerOf, idempotencyKeyOf, type Visit } from "../in-process/visit.ts";
import { isReason } from "../rest/failure.ts";
import { annotate } from "./echo.ts";
import { notFound } from "./errors.ts";
import { conversationIdOf, responseIdOf } from "./ids.ts";
import { findPlace, type Started } from "./named-session.ts";
import { type Asked, previousNotFound } from "./response-request.ts";

const sessions = SessionService.method;
const runs = RunService.method;

/** Starts the run: in a session of its own, in the conversation, or after the previous response. */
export async function start(visit: Visit, asked: Asked): Promise<Started> {
  const { calls } = visit;
  const key = idempotencyKeyOf(visit);
  const send: Send = (sessionId, { messages = asked.messages, ...more }) =>
    calls.call(sessions.sendMessage, {
      sessionId,
      messages: [...messages],
      agent: asked.agent,
      annotations: annotate(asked.echo),
      ...more,
    });
  if (asked.conversation !== undefined) {
    const { conversation } = asked;
    return await send(conversation, { requestId: key }).catch((error: unknown) => {
      throw isReason(error, "SESSION_NOT_FOUND") ? notFound("Conversation", conversationIdOf(conversation)) : error;
    });
  }
  if (asked.previousRunId !== undefined) {
    return await follow(calls, asked.previousRunId, key, send);
  }
  // The agents of one session of Codex work at the same time, each in a thread of its own.
  const name = headerOf(visit.request, "thread-id") ?? headerOf(visit.request, "session-id");
  if (name !== undefined) {
    return await startNamed(calls, { name, asked, key }, send);
  }
  const { sessionId } = await calls.call(sessions.createSession, {
    agent: newAgent,
    workDir: asked.workDir,
    requestId: key,
  });
  return await sendHere(calls, sessionId, key, () => send(sessionId, { requestId: key }));
}

/** Sends the first message of a new session. A repetition with the same key gets the same session, which therefore stays. */
async function sendHere(calls: Calls, sessionId: string, key: string, send: () => Promise<Started>): Promise<Started> {
  return await (key === "" ? sendFirst(calls, sessionId, send) : send());
}

type Send = (
  sessionId: string,
  more: { readonly messages?: readonly Message[]; readonly afterRunId?: string; readonly requestId: string },
) => Promise<Started>;

/** Starts the run in the session of a name, or returns the run of the same request. A busy session is left to its run. */
async function startNamed(
  calls: Calls,
  { name, asked, key }: { readonly name: string; readonly asked: Asked; readonly key: string },
  send: Send,
): Promise<Started> {
  const start = async (isBusy: boolean): Promise<Started> => {
    const place = await findPlace(calls, { name, input: asked.messages, isBusy }, (session) =>
      calls.call(sessions.createSession, { agent: newAgent, workDir: asked.workDir, ...session }),
    );
    if ("runId" in place) {
      return place;
    }
    const { sessionId, messages, isNew } = place;
    const sendHere = () => send(sessionId, { messages, requestId: key });
    return await (isNew ? sendFirst(calls, sessionId, sendHere) : sendHere());
  };
  try {
    return await start(false);
  } catch (error) {
    if (!isReason(error, "SESSION_BUSY", "SESSION_EXISTS")) {
      throw error;
    }
    return await start(true);
  }
}

/** The agent of sessions that this surface makes. Its runs may use tools many times. */
export const newAgent = { name: "openai", maxTurns: 100, tools: noTools };

/** Continues the session of a response while that is its newest run, else a fork of it. */
async function follow(calls: Calls, runId: string, key: string, send: Send): Promise<Started> {
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
  return await sendHere(calls, forked.sessionId, key, () => send(forked.sessionId, { requestId }));
}
