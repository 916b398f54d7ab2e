// The run of a request: in a session that lasts as long as the call, in a durable one that the program names, or in one that a thread of
// the program is.

import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import type { Calls } from "../in-process/calls.ts";
import { sendFirst } from "../in-process/first-message.ts";
import { branchIdOf } from "../in-process/named-session.ts";
import { noTools } from "../in-process/no-tools.ts";
import { answerOverPassingRun } from "../in-process/passing-session.ts";
import { idempotencyKeyOf, type Visit } from "../in-process/visit.ts";
import { isReason } from "../rest/failure.ts";
import { ApiError } from "./errors.ts";
import { runIdOf } from "./ids.ts";
import { type Asked, sessionNameOf } from "./request.ts";

const sessions = SessionService.method;

/** The agent of sessions that this surface makes. A response that its provider pauses continues in the same run. */
const newAgent = { name: "anthropic", maxTurns: 100, tools: noTools };

/** Starts the run of a request, and cancels it when the caller leaves before its answer and has no key with which to come back. */
export async function answerOverRun(
  visit: Visit,
  asked: Asked,
  answer: (runId: string) => Promise<void>,
): Promise<void> {
  const { calls } = visit;
  const requestId = idempotencyKeyOf(visit);
  const message = { messages: [...asked.messages], agent: asked.agent, requestId };
  const runId = await startKept(visit, asked, message);
  if (runId === undefined) {
    await answerOverPassingRun(calls, { session: { agent: newAgent, requestId }, message }, answer);
    return;
  }
  try {
    await answer(runId);
  } catch (error) {
    // A stream cannot take back the text of a turn that begins again. With a key, the same request follows the run, which goes on. A
    // request without one starts another run in the session.
    if (requestId === "") {
      await calls.call(RunService.method.cancelRun, { runId }, { outlives: true }).catch(() => undefined);
    }
    throw error;
  }
}

type NewMessage = Pick<Asked, "agent"> & { messages: Asked["messages"][number][]; requestId: string };

/** Starts the run in a session that stays. Returns undefined for a request without one. */
async function startKept(visit: Visit, { thread, agent }: Asked, message: NewMessage): Promise<string | undefined> {
  const { calls } = visit;
  if (thread?.previousMessageId !== undefined) {
    return await continueThread(calls, thread.previousMessageId, message);
  }
  if (thread !== undefined) {
    const { requestId } = message;
    // The tools are those of the whole thread.
    const session = { agent: { ...newAgent, ...(agent.tools && { tools: agent.tools }) }, requestId };
    const { sessionId } = await calls.call(sessions.createSession, session);
    const send = () => calls.call(sessions.sendMessage, { ...message, sessionId });
    // A repetition with the same key gets the same session, which therefore stays.
    return (await (requestId === "" ? sendFirst(calls, sessionId, send) : send())).runId;
  }
  const name = sessionNameOf(visit);
  return name === undefined ? undefined : await startNamed(calls, branchIdOf(name), message);
}

/** Continues the session of an answer. A client that gets one of these errors sends the whole conversation in a new thread. */
async function continueThread(calls: Calls, messageId: string, message: NewMessage): Promise<string> {
  const lost = new ApiError(404, `there is no message ${messageId}`, {}, "thread_not_found");
  const afterRunId = runIdOf(messageId);
  if (afterRunId === undefined) {
    throw lost;
  }
  try {
    const { run } = await calls.call(RunService.method.getRun, { runId: afterRunId });
    const sessionId = run?.sessionId ?? "";
    return (await calls.call(sessions.sendMessage, { ...message, sessionId, afterRunId })).runId;
  } catch (error) {
    if (isReason(error, "RUN_NOT_FOUND", "SESSION_NOT_FOUND")) {
      throw lost;
    }
    if (isReason(error, "SESSION_MOVED")) {
      throw new ApiError(400, "the thread has gone on after this message", {}, "thread_already_continued");
    }
    throw isReason(error, "SESSION_BUSY")
      ? new ApiError(400, "the thread has an answer in work", {}, "thread_continue_in_flight")
      : error;
  }
}

/** Returns the run; undefined when the session cannot take it now: programs ask several questions of a session at once. */
async function startNamed(calls: Calls, sessionId: string, message: NewMessage): Promise<string | undefined> {
  const send = () => calls.call(sessions.sendMessage, { ...message, sessionId, replaceHistory: true });
  try {
    const { runId } = await send().catch(async (error: unknown) => {
      if (!isReason(error, "SESSION_NOT_FOUND")) {
        throw error;
      }
      await calls.call(sessions.createSession, { sessionId, agent: newAgent });
      return await sendFirst(calls, sessionId, send);
    });
    return runId;
  } catch (error) {
    if (isReason(error, "SESSION_BUSY", "SESSION_EXISTS", "SESSION_NOT_FOUND", "SESSION_ENDED")) {
      return undefined;
    }
    throw error;
  }
}
