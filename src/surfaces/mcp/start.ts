// Starts the run of a call, and keeps with it what another replica needs to answer the call.

import { ConnectError } from "@connectrpc/connect";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { newUuid } from "../../platform/base/ids.ts";
import { isObject, parseObject } from "../../platform/base/json/parse-object.ts";
import type { Calls } from "../in-process/calls.ts";
import { sendFirst } from "../in-process/first-message.ts";
import type { Params, RpcId } from "../in-process/json-rpc.ts";
import { describeFailure, isReason } from "../rest/failure.ts";
import type { McpCall } from "./call.ts";
import type { Tool } from "./tools.ts";

const sessions = SessionService.method;
const runs = RunService.method;

/** What lies with a run. */
export interface RunNote {
  readonly tool: string;
  /** Continues the conversation. */
  readonly session_id: string;
  /** The client's session, request and progress token; unset for a client without sessions. */
  readonly session?: string;
  readonly id?: RpcId;
  readonly progress_token?: RpcId;
}

/** A run of this surface. */
export interface StartedRun {
  readonly runId: string;
  readonly note: RunNote;
}

/** A call that the agent cannot take. The model of the client reads why, and may call again. */
export class CallRefused extends Error {
  override readonly name = "CallRefused";
}

/** Starts the run of a call. Throws CallRefused. */
export async function startRun(call: McpCall, tool: Tool, args: Params): Promise<StartedRun> {
  const { message, sessionId } = readArguments(tool, args);
  try {
    const run = await (tool.offered === undefined
      ? startInSession(call, tool, message, sessionId)
      : startOffered(call, tool, tool.offered, message, sessionId));
    if (!call.isModern) {
      await call.requestRuns.keep(call.session, call.id, run.runId);
    }
    return run;
  } catch (error) {
    const { httpStatus, message: why } = describeFailure(error);
    // What the caller may change. Other failures are the service's own.
    throw error instanceof ConnectError && httpStatus >= 400 && httpStatus < 500 ? new CallRefused(why) : error;
  }
}

/** Returns the run of an id. Undefined for a run that the caller does not have, or that this surface has not started. */
export async function findRun(calls: Calls, runId: string): Promise<StartedRun | undefined> {
  try {
    const { annotations } = await calls.call(runs.getRunInput, { runId });
    const note = parseObject(annotations)?.mcp;
    return isObject(note) ? { runId, note: note as unknown as RunNote } : undefined;
  } catch (error) {
    if (isReason(error, "RUN_NOT_FOUND", "INVALID_ARGUMENT")) {
      return undefined;
    }
    throw error;
  }
}

function readArguments(
  { inputSchema }: Tool,
  args: Params,
): { readonly message: string; readonly sessionId: string | undefined } {
  const { message, session_id: given, ...others } = args;
  // Models fill in what they may leave out.
  const sessionId = given === null || given === "" ? undefined : given;
  if (sessionId !== undefined && (typeof sessionId !== "string" || !/^[A-Za-z0-9_-]{1,128}$/.test(sessionId))) {
    throw new CallRefused("session_id: must be the session_id of an earlier answer");
  }
  if (inputSchema !== undefined) {
    return { message: JSON.stringify(args), sessionId };
  }
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) {
    throw new CallRefused(`${unknown.toWellFormed()}: is unknown: a call has message and session_id`);
  }
  if (typeof message !== "string" || message === "") {
    throw new CallRefused("message: must be a text that is not empty");
  }
  return { message: message.toWellFormed(), sessionId };
}

async function startInSession(
  call: McpCall,
  tool: Tool,
  message: string,
  given: string | undefined,
): Promise<StartedRun> {
  const { calls } = call;
  const sessionId = given ?? (await calls.call(sessions.createSession, { preset: tool.name })).sessionId;
  if (given !== undefined) {
    await assertSession(calls, given, tool);
  }
  const note = noteOf(call, tool, sessionId);
  const request = { sessionId, message, annotations: JSON.stringify({ mcp: note }), queueIfBusy: true };
  const send = () => calls.call(sessions.sendMessage, request);
  const { runId } = await (given === undefined ? sendFirst(calls, sessionId, send) : send());
  return { runId, note };
}

/** A session of another agent would answer as that agent. */
async function assertSession(calls: Calls, sessionId: string, { name }: Tool): Promise<void> {
  const unknown = new CallRefused(`session_id: ${name} has no session ${sessionId}: leave it out to begin a new one`);
  try {
    const { session } = await calls.call(sessions.getSession, { sessionId });
    if (session?.name !== name) {
      throw unknown;
    }
  } catch (error) {
    throw isReason(error, "SESSION_NOT_FOUND") ? unknown : error;
  }
}

async function startOffered(
  call: McpCall,
  tool: Tool,
  { source, agent }: NonNullable<Tool["offered"]>,
  text: string,
  given: string | undefined,
): Promise<StartedRun> {
  const { calls, clock } = call;
  const conversationId = given ?? newUuid(clock.nowMs());
  const note = noteOf(call, tool, conversationId);
  const annotations = JSON.stringify({ mcp: note });
  const message = { id: newUuid(clock.nowMs()), source: "mcp", text, conversationId, annotations };
  const runId = await source.start((method, request) => calls.call(method, request), agent, message);
  return { runId, note };
}

function noteOf({ isModern, session, id, progressToken }: McpCall, { name }: Tool, sessionId: string): RunNote {
  return {
    tool: name,
    session_id: sessionId,
    ...(!isModern && { session, id, ...(progressToken !== undefined && { progress_token: progressToken }) }),
  };
}
