// `POST /v1/responses/compact`: a model sums up a conversation, in a run of a session that lasts as long as the call. The answer has the
// messages of users and an item with the summary, which callers send in place of the conversation.

import type { Message } from "#gen/runnel/v1/message_pb.js";
import type { RunCompleted, RunFailed } from "#gen/runnel/v1/result_pb.js";
import type { Usage } from "#gen/runnel/v1/usage_pb.js";
import { followLog } from "../in-process/follow-log.ts";
import { textOf } from "../in-process/message-text.ts";
import { answerOverPassingRun } from "../in-process/passing-session.ts";
import { SlowJson } from "../in-process/slow-json.ts";
import { idempotencyKeyOf, type Visit } from "../in-process/visit.ts";
import { readAsked, readWhole } from "./asked.ts";
import { ApiError, failureOf, invalid } from "./errors.ts";
import { plain, responseIdOf, secondsOf } from "./ids.ts";
import { itemsOf, textMessage } from "./messages.ts";
import { usageObject } from "./response.ts";
import { sealSummary } from "./sealed-state.ts";
import { newAgent } from "./start.ts";

/** `POST /v1/responses/compact`. */
export async function compactResponse(visit: Visit): Promise<void> {
  const asked = await readAsked(visit);
  const whole = await readWhole(visit.calls, asked);
  if (whole.length === 0) {
    throw invalid("input", "give a text, a list of items or previous_response_id");
  }
  const requestId = idempotencyKeyOf(visit);
  const { systemPrompt = "", ...agent } = asked.agent;
  const message = {
    messages: [...whole.map(asWords), textMessage("user", request)],
    agent: { ...agent, systemPrompt: [systemPrompt, task].filter((text) => text !== "").join("\n\n") },
    requestId,
  };
  await answerOverPassingRun(visit.calls, { session: { agent: newAgent, requestId }, message }, (runId) =>
    answerCompacted(visit, runId, whole),
  );
}

const task =
  "Another model will continue this conversation from your summary alone. It sees the messages of the user again, and nothing else.";

const request =
  "Sum up the conversation so far, for the model that continues it. Do not answer it and do not call tools. Keep what was decided, what " +
  "was done and found with names, paths, numbers and results of tools, what the user wants and does not want, the work that is left, and " +
  "the next step.";

/** Providers take calls only from requests that offer their tools, so the model reads calls and their results as words. */
function asWords(message: Message): Message {
  const { role, toolCalls, toolCallId = "" } = message;
  if (role === "tool") {
    return textMessage("user", `Result of the call ${toolCallId}:\n${textOf(message)}`);
  }
  if (toolCalls.length === 0) {
    return message;
  }
  const calls = toolCalls.map(({ id, name, arguments: json }) => `Call ${id} of the tool ${name}: ${json}`);
  return textMessage(role, [textOf(message), ...calls].filter((text) => text !== "").join("\n"));
}

async function answerCompacted({ calls, response }: Visit, runId: string, whole: readonly Message[]): Promise<void> {
  const answer = new SlowJson(response);
  let end: { readonly payload: RunCompleted | RunFailed; readonly usage: Usage | undefined } | undefined;
  await answer.takeAll(followLog(calls, runId), ({ payload, usage }) => {
    if (payload.case === "runCompleted" || payload.case === "runFailed") {
      end = { payload: payload.value, usage };
    }
  });
  const { summary, failure } = judge(end?.payload);
  if (failure !== undefined) {
    answer.send(failure.status, { error: failure.body }, failure.headers);
    return;
  }
  const users = whole.flatMap((message, index) =>
    message.role === "user" ? itemsOf(message, `${plain(runId)}_in${index}`) : [],
  );
  const compaction = { id: `cmp_${plain(runId)}`, type: "compaction", encrypted_content: sealSummary(summary) };
  answer.send(200, {
    id: responseIdOf(runId),
    object: "response.compaction",
    created_at: secondsOf(runId),
    output: [...users, compaction],
    usage: usageObject(end?.usage),
  });
}

interface Judged {
  readonly summary: string;
  readonly failure?: ApiError;
}

/** A summary that is empty or cut off would lose the conversation. */
function judge(end: RunCompleted | RunFailed | undefined): Judged {
  if (end === undefined || "code" in end) {
    return { summary: "", failure: end === undefined ? noSummary : failureOf(end) };
  }
  const summary = textOf(end.message);
  return summary === "" || end.finishReason === "length" ? { summary, failure: noSummary } : { summary };
}

const noSummary = new ApiError(500, {
  message: "The model has written no whole summary: repeat the request, or name another model.",
  type: "server_error",
  code: "server_error",
});
