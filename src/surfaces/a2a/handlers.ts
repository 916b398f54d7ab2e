// The methods of A2A, for every binding.

import { create, type DescMethod, type Message, type MessageShape } from "@bufbuild/protobuf";
import {
  type A2AService,
  type CancelTaskRequest,
  type GetTaskRequest,
  type SendMessageRequest,
  SendMessageResponseSchema,
  type StreamResponse,
  type SubscribeToTaskRequest,
  type Task,
  TaskState,
} from "#gen/lf/a2a/v1/a2a_pb.js";
import type { Run } from "#gen/runnel/v1/run_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import type { CallMethod } from "../../platform/base/offered-agents.ts";
import type { A2aCall } from "./call.ts";
import { extendedCard } from "./card.ts";
import { A2aError, InvalidField } from "./errors.ts";
import { eventOf, isEnd, type TaskFold } from "./fold.ts";
import { listTasks } from "./list.ts";
import { assertMessage, requireText } from "./message.ts";
import { createPush, deletePush, getPush, listPushes, putPush, readPush } from "./push.ts";
import { startTask } from "./start.ts";
import {
  assertHistoryLength,
  findQuestions,
  followTask,
  hasEnded,
  openTask,
  readTask,
  requireRun,
  trim,
} from "./tasks.ts";

const handlers = {
  sendMessage: async (call, request) => {
    const task = await sendMessage(call, request);
    return create(SendMessageResponseSchema, { payload: { case: "task", value: task } });
  },
  sendStreamingMessage,
  getTask,
  listTasks,
  cancelTask,
  subscribeToTask,
  getExtendedAgentCard: extendedCard,
  createTaskPushNotificationConfig: createPush,
  getTaskPushNotificationConfig: getPush,
  listTaskPushNotificationConfigs: listPushes,
  deleteTaskPushNotificationConfig: deletePush,
} satisfies Handlers;

/** A method for callers that know it by its descriptor. */
export type Handler =
  | { readonly isStream: false; readonly call: (call: A2aCall, request: Message) => Promise<Message> }
  | { readonly isStream: true; readonly call: (call: A2aCall, request: Message) => AsyncGenerator<Message> };

/** Returns the handler of a method of A2AService. */
export function findHandler({ localName, methodKind }: DescMethod): Handler {
  // The table has the types of the service, which the compiler checks there.
  return {
    isStream: methodKind === "server_streaming",
    call: handlers[localName as keyof typeof handlers],
  } as unknown as Handler;
}

type Methods = typeof A2AService.method;

type Handlers = {
  readonly [Name in keyof Methods]: (
    call: A2aCall,
    request: MessageShape<Methods[Name]["input"]>,
  ) => Methods[Name]["methodKind"] extends "server_streaming"
    ? AsyncGenerator<MessageShape<Methods[Name]["output"]>>
    : Promise<MessageShape<Methods[Name]["output"]>>;
};

async function sendMessage(call: A2aCall, request: SendMessageRequest): Promise<Task> {
  const { returnImmediately = false, historyLength } = request.configuration ?? {};
  const taken = await takeMessage(call, request);
  await taken.answer?.();
  const run = await requireRun(call, taken.run.runId);
  const fold = returnImmediately || taken.answer !== undefined ? await readTask(call, run) : await openTask(call, run);
  if (!returnImmediately && !isEnd(fold.state) && !isQuestion(fold.state)) {
    await settle(call, run, fold, call.patienceMs);
  }
  return trim(fold.task, historyLength);
}

async function* sendStreamingMessage(call: A2aCall, request: SendMessageRequest): AsyncGenerator<StreamResponse> {
  const { run, fold: known, answer } = await takeMessage(call, request);
  const fold = known ?? (await openTask(call, run));
  yield eventOf({ case: "task", value: trim(fold.task, request.configuration?.historyLength) });
  await answer?.();
  if (answer !== undefined && !(await hasMore(call, run, fold))) {
    return;
  }
  for await (const results of followTask(call, run, fold)) {
    for (const result of results) {
      yield* fold.take(result);
    }
    if (results.length > 0 && fold.state === TaskState.INPUT_REQUIRED) {
      return;
    }
  }
}

/** An answer that the run has already has no new results. */
async function hasMore({ calls }: A2aCall, { runId }: Run, { sequence }: TaskFold): Promise<boolean> {
  const { logSequence } = await calls.call(RunService.method.getRun, { runId });
  return logSequence > sequence;
}

/** The task as it is now, then what comes after it. */
async function* subscribeToTask(call: A2aCall, { id }: SubscribeToTaskRequest): AsyncGenerator<StreamResponse> {
  const run = await requireRun(call, id);
  if (hasEnded(run)) {
    throw new A2aError("UNSUPPORTED_OPERATION", "the task has ended: get it instead");
  }
  const fold = await readTask(call, run);
  yield eventOf({ case: "task", value: fold.task });
  if (isEnd(fold.state)) {
    return;
  }
  for await (const results of followTask(call, run, fold)) {
    for (const result of results) {
      yield* fold.take(result);
    }
  }
}

async function getTask(call: A2aCall, { id, historyLength }: GetTaskRequest): Promise<Task> {
  const { task } = await readTask(call, await requireRun(call, id));
  return trim(task, historyLength);
}

async function cancelTask(call: A2aCall, { id }: CancelTaskRequest): Promise<Task> {
  const run = await requireRun(call, id);
  if (!hasEnded(run)) {
    await call.calls.call(RunService.method.cancelRun, { runId: id });
    const fold = await openTask(call, run);
    await settle(call, run, fold, cancelWaitMs, false);
    if (!isEnd(fold.state) || fold.state === TaskState.CANCELED) {
      return fold.task;
    }
  }
  throw new A2aError("TASK_NOT_CANCELABLE", "the task has ended");
}

/** A runner has 10 s to end; some clients wait 5 s for an answer. */
const cancelWaitMs = 4_000;

/** The task of a message. */
interface Taken {
  readonly run: Run;
  /** The task before an answer; undefined for a new one. */
  readonly fold?: TaskFold;
  /** Gives the message to a task that has asked for it; undefined for a new task. */
  readonly answer?: () => Promise<void>;
}

/** Starts a task, or finds the one that the message answers. */
async function takeMessage(call: A2aCall, { tenant, message, configuration }: SendMessageRequest): Promise<Taken> {
  assertMessage(message);
  assertHistoryLength(configuration?.historyLength);
  const wanted = configuration?.taskPushNotificationConfig;
  const push = wanted && readPush(call, wanted, "configuration.taskPushNotificationConfig");
  if (message.taskId === "") {
    const run = await requireRun(call, await startTask(call, tenant, message));
    // The run may have ended by now.
    await (push && putPush(call, run, push, { pushesNow: true }));
    return { run };
  }
  const run = await requireRun(call, message.taskId);
  const fold = await readTask(call, run);
  const { state, task } = fold;
  const { contextId } = task;
  if (message.contextId !== "" && message.contextId !== contextId) {
    throw new InvalidField("message.contextId", "is not the context of the task");
  }
  const questions = findQuestions(call, run);
  if (state === TaskState.INPUT_REQUIRED && questions !== undefined) {
    const text = requireText(message);
    await (push && putPush(call, run, push, { pushesNow: false }));
    const ask: CallMethod = (method, request) => call.calls.call(method, request);
    return { run, fold, answer: () => questions.answer(ask, run.sessionId, text) };
  }
  const working = state === TaskState.AUTH_REQUIRED ? "the task waits for an approval" : "the task works";
  const problem = isEnd(state) ? "the task has ended" : working;
  throw new A2aError("UNSUPPORTED_OPERATION", `${problem}: send the message without taskId to begin the next one`);
}

/** Follows a task until it has ended, or asks for something, or the time is over. */
async function settle(
  { calls, ...call }: A2aCall,
  run: Run,
  fold: TaskFold,
  waitMs: number | undefined,
  stopsAtQuestions = true,
): Promise<void> {
  const over = new AbortController();
  const signal = AbortSignal.any([over.signal, calls.signal]);
  const wait = waitMs === undefined ? undefined : call.server.clock.sleep(waitMs, signal).then(() => over.abort());
  try {
    for await (const results of followTask({ ...call, calls }, run, fold, signal)) {
      for (const result of results) {
        fold.take(result);
      }
      if (stopsAtQuestions && isQuestion(fold.state)) {
        return;
      }
    }
  } catch (error) {
    if (!over.signal.aborted || calls.signal.aborted) {
      throw error;
    }
  } finally {
    over.abort();
    await wait;
  }
}

function isQuestion(state: TaskState): boolean {
  return state === TaskState.AUTH_REQUIRED || state === TaskState.INPUT_REQUIRED;
}
