// The agent loop: asks the model, runs the tools it calls, and goes on until it only talks. What the run has reached is
// in its checkpoint and its transcript, so any replica can go on after any failure.
//
//   model ──text only──→ completed
//     ↑ └──tool calls──→ tools ─┐
//     └───────results───────────┘

import type { Message } from "#gen/runnel/v1/message_pb.js";
import type { ToolCallCompleted } from "#gen/runnel/v1/result_pb.js";
import type { Clock } from "../../base/clock.ts";
import { Fault } from "../../base/fault.ts";
import type { Model, ModelRequest } from "../../models/model.ts";
import { parkAfterMs } from "../../models/retry.ts";
import type { Driver, DriverEnd, DriverStep, FailedEnd, OpenToolCall, RunContext } from "../../runs/driver.ts";
import { selectTools } from "../../tools/builtin.ts";
import type { Tool } from "../../tools/tool.ts";
import { assistantMessage, modelMessages, toolMessage } from "./history.ts";
import { addUsage, checkpointOf, type Progress, readProgress, usageMessage } from "./progress.ts";
import { type NoResponse, type Response, respond } from "./respond.ts";
import { commitCalls, commitOutcomes, runToolBatch } from "./tool-batch.ts";

export interface LlmLoopOptions {
  readonly resolveModel: (name: string) => Model;
  readonly clock: Clock;
  readonly defaults: { readonly model: string; readonly maxTurns: number; readonly maxTokens: number };
}

export function createLlmLoop(options: LlmLoopOptions): Driver {
  return { name: "llm-loop", recovery: "resume", run: (context) => run(context, options) };
}

const start: Progress = { turns: 0, phase: "model", announced: false, usage: {} };

/** What stays the same over the turns of a run, and the transcript that grows with them. */
interface Loop {
  readonly context: RunContext;
  readonly model: Model;
  readonly tools: readonly Tool[];
  readonly clock: Clock;
  readonly maxTurns: number;
  readonly maxTokens: number;
  readonly transcript: Message[];
}

/** Where the loop goes next. */
interface Next {
  readonly progress: Progress;
  readonly calls: readonly OpenToolCall[];
}

async function* run(context: RunContext, options: LlmLoopOptions): AsyncGenerator<DriverStep, DriverEnd> {
  const loop = prepare(context, options);
  if ("kind" in loop) {
    return loop;
  }
  let next: Next = { progress: readProgress(context) ?? start, calls: context.openToolCalls };
  for (let resumed = true; ; resumed = false) {
    if (next.progress.phase === "model") {
      const turn = yield* takeTurn(loop, next.progress);
      if ("kind" in turn) {
        return turn;
      }
      next = turn;
      resumed = false;
    }
    const turn = next.progress.turns;
    const { tools, clock } = loop;
    const outcomes = yield* runToolBatch({ turn, calls: next.calls, resumed, tools, clock, context });
    if (outcomes === undefined) {
      return stopped;
    }
    next = { progress: yield* answerCalls(loop, next.progress, outcomes), calls: [] };
  }
}

/** A session whose model or tools are not to be had fails its run clearly. */
function prepare(context: RunContext, { resolveModel, clock, defaults }: LlmLoopOptions): Loop | FailedEnd {
  const { agent } = context;
  try {
    return {
      context,
      clock,
      model: resolveModel(agent.model || defaults.model),
      tools: selectTools(agent.tools?.builtin ?? []),
      maxTurns: agent.maxTurns > 0 ? agent.maxTurns : defaults.maxTurns,
      maxTokens: agent.maxTokens > 0 ? agent.maxTokens : defaults.maxTokens,
      transcript: [...context.transcript],
    };
  } catch (error) {
    if (error instanceof Fault) {
      return failed(error.message);
    }
    throw error;
  }
}

/** One response of the model: the end of the run, or calls to make. */
async function* takeTurn(loop: Loop, progress: Progress): AsyncGenerator<DriverStep, Next | DriverEnd> {
  const { context, maxTurns, model } = loop;
  if (progress.turns >= maxTurns) {
    return failed(`agent reached maximum turn limit (${maxTurns})`);
  }
  const turn = progress.turns + 1;
  if (!progress.announced) {
    yield { kind: "append", result: { payload: { case: "turnStarted", value: { turn } } } };
  }
  const response = yield* respond(model, modelRequest(loop), turn, context.signal);
  if ("failure" in response) {
    return endOfFailure(response, progress);
  }
  const spent = { ...progress, turns: turn, usage: addUsage(progress.usage, response.usage) };
  if (response.toolCalls.length === 0) {
    return endOfTalk(response, spent);
  }
  const reached: Progress = { ...spent, phase: "tools" };
  const message = assistantMessage(response.text, response.toolCalls);
  loop.transcript.push(message);
  const effects = { transcript: [message], checkpoint: checkpointOf(reached) };
  yield commitCalls(turn, response.toolCalls, completedMessage(message, response), effects);
  return { progress: reached, calls: response.toolCalls.map((call) => ({ call, outcome: undefined })) };
}

async function* answerCalls(
  loop: Loop,
  progress: Progress,
  outcomes: readonly ToolCallCompleted[],
): AsyncGenerator<DriverStep, Progress> {
  const reached: Progress = { ...progress, phase: "model", announced: false };
  const messages = outcomes.map(toolMessage);
  loop.transcript.push(...messages);
  const effects = { transcript: messages, checkpoint: checkpointOf(reached) };
  yield commitOutcomes(progress.turns, outcomes, effects);
  return reached;
}

function modelRequest({ context, transcript, tools, maxTokens }: Loop): ModelRequest {
  const { systemPrompt, temperature } = context.agent;
  return { system: systemPrompt, messages: modelMessages(transcript), tools, maxTokens, temperature };
}

function endOfTalk(response: Response, progress: Progress): DriverEnd {
  if (response.finishReason === "content-filter") {
    return failed("the provider withheld the response: content filter");
  }
  const message = assistantMessage(response.text, []);
  return {
    kind: "completed",
    finishReason: response.finishReason,
    message,
    turns: progress.turns,
    usage: usageMessage(progress.usage),
    results: [completedMessage(message, response)],
    transcript: [message],
  };
}

function completedMessage(message: Message, { usage }: Response) {
  return {
    usage: usageMessage(addUsage({}, usage)),
    payload: { case: "messageCompleted", value: { message } },
  } as const;
}

function endOfFailure({ failure, spoke }: NoResponse, progress: Progress): DriverEnd {
  if (failure === "aborted") {
    return stopped;
  }
  const { retryAfterMs } = failure;
  // Nothing is held while a provider that asks for a long pause gets it.
  if (retryAfterMs !== undefined && retryAfterMs > parkAfterMs && !spoke) {
    const checkpoint = checkpointOf({ ...progress, announced: true });
    return { kind: "parked", reason: failure.message, wakeInMs: retryAfterMs, checkpoint };
  }
  // The document's clients know a failure of the very first request by this prefix.
  const prefix = progress.turns === 0 ? "failed to send message: " : "";
  return { ...failed(prefix + failure.message), retryable: failure.retryable, usage: usageMessage(progress.usage) };
}

function failed(error: string): FailedEnd {
  return { kind: "failed", code: "runner.error", error, retryable: false };
}

/** The supervisor knows why the run was stopped and ends it accordingly. */
const stopped: FailedEnd = failed("context canceled");
