// The Messages API: each request is one run. A caller without a key that leaves cancels it: no other call can read the answer.

import { ProviderService } from "#gen/runnel/v1/provider_service_pb.js";
import { followLog } from "../in-process/follow-log.ts";
import { SlowJson } from "../in-process/slow-json.ts";
import type { Visit } from "../in-process/visit.ts";
import { withoutVoid } from "../in-process/without-void.ts";
import { endStream, type RestResponse, sendJson, setHead } from "../rest/respond.ts";
import { streamHeaders, writeText } from "../rest/streamed-answer.ts";
import type { StreamEvent } from "./content-blocks.ts";
import { type ApiError, toApiError } from "./errors.ts";
import { readFields } from "./fields.ts";
import { MessageFold } from "./fold.ts";
import { messageIdOf } from "./ids.ts";
import { readPrompt, readRequest } from "./request.ts";
import { answerOverRun } from "./session.ts";

/** `POST /v1/messages`. */
export async function createMessage(visit: Visit): Promise<void> {
  const asked = readRequest(visit);
  await answerOverRun(visit, asked, async (runId) => {
    const fold = new MessageFold({ ...asked, id: messageIdOf(runId) });
    await (asked.isStream ? streamMessage(visit, runId, fold) : answerMessage(visit, runId, fold));
  });
}

/** `POST /v1/messages/count_tokens`. */
export async function countTokens(visit: Visit): Promise<void> {
  const { agent, messages } = readPrompt(readFields(visit), visit);
  const { inputTokens } = await visit.calls.call(ProviderService.method.countTokens, {
    agent,
    messages: [...messages],
  });
  sendJson(visit.response, 200, JSON.stringify({ input_tokens: Number(inputTokens) }));
}

/** The name of the header by which people find a request. */
export const requestIdHeader = "request-id";

/** Returns the id of the answer's request. */
export function requestIdOf(response: RestResponse): string | undefined {
  const id = response.getHeader(requestIdHeader);
  return typeof id === "string" ? id : undefined;
}

async function answerMessage({ calls, response }: Visit, runId: string, fold: MessageFold): Promise<void> {
  const answer = new SlowJson(response);
  await answer.takeAll(followLog(calls, runId), (result) => fold.take(result));
  if (fold.failure === undefined) {
    answer.send(200, fold.message);
  } else {
    sendFailure(answer, response, fold.failure);
  }
}

function sendFailure(answer: SlowJson, response: RestResponse, failure: ApiError): void {
  answer.send(failure.status, failure.body(requestIdOf(response)), failure.headers);
}

async function streamMessage(visit: Visit, runId: string, fold: MessageFold): Promise<void> {
  const { calls, response } = visit;
  try {
    let silentBatches = 0;
    for await (const results of followLog(calls, runId)) {
      const events = withoutVoid(results).flatMap((result) => fold.take(result));
      silentBatches += results.length === 0 ? 1 : 0;
      // A run that fails before its first word is answered with the status of its failure.
      if (fold.failure !== undefined) {
        throw fold.failure;
      }
      if (response.headersSent) {
        await writeText(visit, results.length === 0 ? printEvent(ping) : "");
      } else if (events.length > 0 || silentBatches > heldBatches) {
        setHead(response, 200, streamHeaders);
        await writeText(visit, printEvent(fold.open()) + printEvent(ping));
      }
      await writeText(visit, events.map(printEvent).join(""));
    }
    endStream(response, "");
  } catch (error) {
    if (calls.signal.aborted || !response.headersSent) {
      throw error;
    }
    endStream(response, printEvent({ ...toApiError(error).body(requestIdOf(response)), type: "error" }));
    throw error;
  }
}

/** The first empty batch comes at once, the next one after 15 s without a word. */
const heldBatches = 1;

/** It keeps a silent stream alive. */
const ping: StreamEvent = { type: "ping" };

function printEvent(event: StreamEvent): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}
