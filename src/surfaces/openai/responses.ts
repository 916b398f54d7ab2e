// The Responses API: a response is a run, and its stream is the folded log.

import { createHash } from "node:crypto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Message } from "#gen/runnel/v1/message_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { type AgentSchema, ReasoningEffort } from "#gen/runnel/v1/session_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { over } from "../../platform/base/clock.ts";
import type { Calls } from "../in-process/calls.ts";
import { pageSizeMax, readPages } from "../in-process/lists.ts";
import { followLog } from "../in-process/stream.ts";
import { isReason } from "../rest/failure.ts";
import { sendJson } from "../rest/respond.ts";
import { annotate, type Echo, type Origin, originOf } from "./echo.ts";
import { ApiError, invalid, notFound, unsupported } from "./errors.ts";
import type { Fields } from "./fields.ts";
import { ResponseFold } from "./fold.ts";
import { plain, responseIdOf, runIdOf, sessionIdOf } from "./ids.ts";
import { itemsOf, readInput } from "./messages.ts";
import { streamResponse } from "./stream.ts";
import { readTools } from "./tools.ts";
import { idempotencyKeyOf, pageOf, readFields, readPage, SlowJson, type Visit } from "./visit.ts";

const sessions = SessionService.method;
const runs = RunService.method;

/** `POST /v1/responses`. */
export async function createResponse(visit: Visit): Promise<void> {
  const asked = readRequest(await readFields(visit));
  const { runId, sessionId } = await start(visit, asked);
  const origin = await requireOrigin(visit.calls, runId, sessionId);
  if (asked.isStream) {
    await streamResponse(visit, origin, -1);
  } else if (asked.echo.background) {
    sendJson(visit.response, 200, JSON.stringify(new ResponseFold(origin).response));
  } else {
    await answerWhole(visit, origin);
  }
}

/** `GET /v1/responses/{id}`. */
export async function getResponse(visit: Visit, id: string): Promise<void> {
  const origin = await findOrigin(visit.calls, id);
  if (origin?.echo.store !== true) {
    throw notFound("Response", id);
  }
  const after = visit.query.get("starting_after") ?? "-1";
  if (!/^(?:-1|\d{1,15})$/.test(after)) {
    throw invalid("starting_after", "must be the sequence_number of an event");
  }
  if (visit.query.get("stream") === "true") {
    await streamResponse(visit, origin, Number(after));
  } else {
    await answerNow(visit, origin);
  }
}

/** `POST /v1/responses/{id}/cancel`: requests the cancel and gives the run a moment to end. */
export async function cancelResponse(visit: Visit, id: string): Promise<void> {
  const { calls, clock } = visit;
  const origin = await findOrigin(calls, id);
  if (origin === undefined) {
    throw notFound("Response", id);
  }
  await calls.call(runs.cancelRun, { runId: origin.runId });
  const enough = new AbortController();
  const ended = new AbortController();
  void clock.sleep(cancelWaitMs, ended.signal).then(() => enough.abort(over));
  try {
    const signal = AbortSignal.any([calls.signal, enough.signal]);
    for await (const _ of followLog(calls, origin.runId, signal)) {
      // The end of the log is the end of the run.
    }
  } catch (error) {
    if (!enough.signal.aborted) {
      throw error;
    }
  } finally {
    ended.abort(over);
  }
  await answerNow(visit, origin);
}

/** A run ends within moments of a cancel, unless a tool has to be stopped. */
const cancelWaitMs = 2_000;

/** `DELETE /v1/responses/{id}`. */
export async function deleteResponse({ calls, response }: Visit, id: string): Promise<void> {
  const origin = await findOrigin(calls, id);
  if (origin === undefined) {
    throw notFound("Response", id);
  }
  await calls.call(runs.deleteRun, { runId: origin.runId });
  sendJson(response, 200, JSON.stringify({ id, object: "response", deleted: true }));
}

/** `GET /v1/responses/{id}/input_items`. */
export async function listInputItems(visit: Visit, id: string): Promise<void> {
  const { calls, response } = visit;
  const page = readPage(visit);
  const runId = runIdOf(id);
  const origin = await findOrigin(calls, id);
  if (origin?.echo.store !== true || runId === undefined) {
    throw notFound("Response", id);
  }
  const { messages } = await calls.call(runs.getRunInput, { runId });
  const items = messages.flatMap((message, index) => itemsOf(message, `${plain(runId)}_in${index}`));
  sendJson(response, 200, JSON.stringify(pageOf(items as { id: string }[], page)));
}

/** A request, read and checked. */
interface Asked {
  readonly isStream: boolean;
  readonly messages: readonly Message[];
  readonly agent: MessageInitShape<typeof AgentSchema>;
  readonly conversation: string | undefined;
  readonly previousRunId: string | undefined;
  readonly workDir: string;
  readonly echo: Echo;
}

function readRequest(request: Fields): Asked {
  const conversation = readConversation(request);
  const previous = request.text("previous_response_id");
  if (conversation !== undefined && previous !== undefined) {
    throw invalid("previous_response_id", "set conversation or previous_response_id, not both");
  }
  const instructions = request.text("instructions");
  const toolsGiven = request.list("tools") ?? [];
  const tools = readTools(request, { isChat: false });
  const temperature = request.number("temperature");
  const metadata = readMetadata(request);
  const reasoning = request.child("reasoning");
  const asked: Asked = {
    isStream: request.flag("stream") ?? false,
    messages: readInput(request),
    agent: {
      model: request.text("model") ?? "",
      systemPrompt: instructions ?? "",
      maxTokens: request.count("max_output_tokens") ?? 0,
      ...(temperature !== undefined && { temperature }),
      ...(tools && { tools }),
      reasoningEffort: readEffort(reasoning?.text("effort")),
    },
    conversation,
    previousRunId: previous === undefined ? undefined : requirePrevious(previous),
    workDir: metadata["runnel.work_dir"] ?? "",
    echo: {
      background: request.flag("background") ?? false,
      store: request.flag("store") ?? true,
      hasInstructions: instructions !== undefined,
      previous_response_id: previous ?? null,
      metadata,
      tools: toolsGiven,
      tool_choice: request.text("tool_choice") ?? "auto",
      reasoning: reasoning === undefined ? null : { effort: reasoning.text("effort") ?? null, summary: null },
      user: request.text("user") ?? null,
      safety_identifier: request.text("safety_identifier") ?? null,
      prompt_cache_key: request.text("prompt_cache_key") ?? null,
    },
  };
  checkIgnored(request);
  request.assertAllRead();
  return asked;
}

/** Accepts fields whose only supported value is what happens anyway. */
function checkIgnored(request: Fields): void {
  request.ignore("truncation", "stream_options", "prompt_cache_retention");
  const tier = request.text("service_tier") ?? "auto";
  if (tier !== "auto" && tier !== "default") {
    throw unsupported("service_tier", "use auto");
  }
  if ((request.list("include") ?? []).length > 0) {
    throw unsupported("include", "leave it empty");
  }
  const text = request.child("text");
  const format = text?.child("format");
  if (format !== undefined && format.text("type") !== "text") {
    throw unsupported("text.format", "use text");
  }
  text?.assertAllRead();
}

function readConversation(request: Fields): string | undefined {
  const given = request.raw("conversation");
  const id =
    typeof given === "object" ? request.child("conversation")?.requireText("id") : request.text("conversation");
  if (id === undefined) {
    return undefined;
  }
  const session = sessionIdOf(id);
  if (session === undefined) {
    throw notFound("Conversation", id);
  }
  return session;
}

/** Reads up to 16 pairs of texts. */
export function readMetadata(request: Fields): Readonly<Record<string, string>> {
  const given = request.child("metadata");
  const pairs = Object.entries(given === undefined ? {} : (request.raw("metadata") as object));
  const isText = pairs.every(([key, value]) => key.length <= 64 && typeof value === "string" && value.length <= 512);
  if (pairs.length > 16 || !isText) {
    throw invalid("metadata", "give at most 16 pairs: keys of at most 64 characters, texts of at most 512");
  }
  return Object.fromEntries(pairs);
}

/** Returns the effort; other values leave it to the provider. */
export function readEffort(effort: string | undefined): ReasoningEffort {
  switch (effort) {
    case "none":
    case "minimal":
      return ReasoningEffort.MINIMAL;
    case "low":
      return ReasoningEffort.LOW;
    case "medium":
      return ReasoningEffort.MEDIUM;
    case "high":
    case "xhigh":
      return ReasoningEffort.HIGH;
    default:
      return ReasoningEffort.UNSPECIFIED;
  }
}

function requirePrevious(id: string): string {
  const runId = runIdOf(id);
  if (runId === undefined) {
    throw previousNotFound(id);
  }
  return runId;
}

function previousNotFound(id: string): ApiError {
  const message = `Previous response with id '${id}' not found.`;
  return new ApiError(400, { message, param: "previous_response_id", code: "previous_response_not_found" });
}

interface Started {
  readonly runId: string;
  readonly sessionId: string;
}

/** Starts the run: in a session of its own, in the conversation, or after the previous response. */
async function start(visit: Visit, asked: Asked): Promise<Started> {
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
export const newAgent = { name: "openai", maxTurns: 100 } as const;

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

/** Returns the origin of a response by its id; undefined when the caller has no such response. */
async function findOrigin(calls: Calls, id: string): Promise<Origin | undefined> {
  const runId = runIdOf(id);
  if (runId === undefined) {
    return undefined;
  }
  try {
    const { run } = await calls.call(runs.getRun, { runId });
    return originOf(await calls.call(runs.getRunInput, { runId }), run?.sessionId ?? "");
  } catch (error) {
    if (isReason(error, "RUN_NOT_FOUND")) {
      return undefined;
    }
    throw error;
  }
}

async function requireOrigin(calls: Calls, runId: string, sessionId: string): Promise<Origin> {
  const origin = originOf(await calls.call(runs.getRunInput, { runId }), sessionId);
  if (origin === undefined) {
    throw new Error(`run ${runId} is no response`);
  }
  return origin;
}

/** Answers with the response when its run has ended. While the run still works as this replica stops, answers as it is. */
async function answerWhole({ calls, response }: Visit, origin: Origin): Promise<void> {
  const fold = new ResponseFold(origin);
  const answer = new SlowJson(response);
  fold.open();
  try {
    for await (const results of followLog(calls, origin.runId)) {
      if (results.length === 0) {
        await answer.beat();
      }
      for (const result of results) {
        fold.take(result);
      }
    }
  } catch (error) {
    if (calls.signal.aborted || !isReason(error, "RESUME")) {
      throw error;
    }
  }
  answer.send(200, fold.response);
}

/** Answers with the response as it is now. */
async function answerNow({ calls, response }: Visit, origin: Origin): Promise<void> {
  const fold = new ResponseFold(origin);
  fold.open();
  const { runId } = origin;
  const results = await readPages(async (pageToken) => {
    const page = await calls.call(runs.listRunResults, { runId, pageSize: pageSizeMax, pageToken });
    return { items: page.results, nextPageToken: page.nextPageToken };
  });
  for (const result of results) {
    fold.take(result);
  }
  sendJson(response, 200, JSON.stringify(fold.response));
}
