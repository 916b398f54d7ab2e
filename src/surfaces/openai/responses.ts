// The Responses API: a response is a run, and its stream is the folded log.

import { ProviderService } from "#gen/runnel/v1/provider_service_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { over } from "../../platform/base/clock.ts";
import { followLog } from "../in-process/follow-log.ts";
import { SlowJson } from "../in-process/slow-json.ts";
import type { Visit } from "../in-process/visit.ts";
import { isReason } from "../rest/failure.ts";
import { sendJson } from "../rest/respond.ts";
import { continueRun } from "./approvals.ts";
import { readAsked, readWhole } from "./asked.ts";
import { type Origin, originOf } from "./echo.ts";
import { invalid, notFound } from "./errors.ts";
import { ResponseFold } from "./fold.ts";
import { plain } from "./ids.ts";
import type { Asked } from "./response-request.ts";
import { start } from "./start.ts";
import { findOrigin, foldNow, readInputItems } from "./stored.ts";
import { streamResponse } from "./stream.ts";
import { pageOf, readPage } from "./visit.ts";

const runs = RunService.method;

/** `POST /v1/responses`. */
export async function createResponse(visit: Visit): Promise<void> {
  const asked = await readAsked(visit);
  const origin = asked.answers.length > 0 ? await continueRun(visit.calls, asked.answers) : await begin(visit, asked);
  if (asked.isStream) {
    await streamResponse(visit, origin, -1);
  } else if (asked.echo.background) {
    sendJson(visit.response, 200, JSON.stringify(new ResponseFold(origin).response));
  } else {
    await answerWhole(visit, origin);
  }
}

/** `POST /v1/responses/input_tokens`: the service's estimate, with what the conversation has before. */
export async function countInputTokens(visit: Visit): Promise<void> {
  const { calls, response } = visit;
  const asked = await readAsked(visit);
  const messages = [...(await readWhole(calls, asked))];
  const { inputTokens } = await calls.call(ProviderService.method.countTokens, { agent: asked.agent, messages });
  sendJson(response, 200, JSON.stringify({ object: "response.input_tokens", input_tokens: Number(inputTokens) }));
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
  const origin = await findOrigin(calls, id);
  if (origin?.echo.store !== true) {
    throw notFound("Response", id);
  }
  sendJson(
    response,
    200,
    JSON.stringify(pageOf(await readInputItems(calls, origin), page, `${plain(origin.runId)}_in`)),
  );
}

async function begin(visit: Visit, asked: Asked): Promise<Origin> {
  const { calls } = visit;
  const { runId, sessionId } = await start(visit, asked);
  return originOf(await calls.call(runs.getRunInput, { runId }), sessionId);
}

/** Answers with the response when its run has ended. While the run still works as this replica stops, answers as it is. */
async function answerWhole({ calls, response }: Visit, origin: Origin): Promise<void> {
  const fold = new ResponseFold(origin);
  const answer = new SlowJson(response);
  fold.open();
  try {
    await answer.takeAll(
      followLog(calls, origin.runId),
      (result) => fold.take(result),
      () => fold.isOver,
    );
  } catch (error) {
    if (calls.signal.aborted || !isReason(error, "RESUME")) {
      throw error;
    }
  }
  const { modelFailure } = fold;
  if (modelFailure === undefined) {
    answer.send(200, fold.response);
  } else {
    answer.send(modelFailure.status, { error: modelFailure.body }, modelFailure.headers);
  }
}

/** Answers with the response as it is now. */
async function answerNow({ calls, response }: Visit, origin: Origin): Promise<void> {
  sendJson(response, 200, JSON.stringify((await foldNow(calls, origin)).response));
}
