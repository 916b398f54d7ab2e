// Tasks: the runs of the caller, whichever surface has started them.

import { create } from "@bufbuild/protobuf";
import type { Task } from "#gen/lf/a2a/v1/a2a_pb.js";
import { type RunResult, RunResultSchema, RunWaitingSchema } from "#gen/runnel/v1/result_pb.js";
import { type Run, Run_State } from "#gen/runnel/v1/run_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { isObject, parseObject } from "../../platform/base/json/parse-object.ts";
import { pageSizeMax, readPages } from "../../platform/base/lists.ts";
import type { TextQuestions } from "../../platform/base/text-questions.ts";
import { artifactIdOf, readArtifact } from "../in-process/agents.ts";
import { isReason } from "../rest/failure.ts";
import type { A2aCall } from "./call.ts";
import { InvalidField, unknownTask } from "./errors.ts";
import { TaskFold } from "./fold.ts";
import { messageOf } from "./message.ts";

const runs = RunService.method;

const endStates: ReadonlySet<Run_State> = new Set([Run_State.COMPLETED, Run_State.FAILED, Run_State.CANCELLED]);

/** Returns whether a run has ended. */
export function hasEnded({ state }: Run): boolean {
  return endStates.has(state);
}

/** Returns a run of the caller. Throws A2aError for another id. */
export async function requireRun({ calls }: A2aCall, id: string): Promise<Run> {
  try {
    const { run } = await calls.call(runs.getRun, { runId: id });
    if (run !== undefined) {
      return run;
    }
  } catch (error) {
    if (!isReason(error, "RUN_NOT_FOUND", "INVALID_ARGUMENT")) {
      throw error;
    }
  }
  throw unknownTask(id);
}

/** Returns the fold of a run before its first result. */
export async function openTask(call: A2aCall, run: Run): Promise<TaskFold> {
  const { calls } = call;
  const { runId, sessionId, createTime } = run;
  const { annotations, messages } = await calls.call(runs.getRunInput, { runId });
  const note = parseObject(annotations)?.a2a;
  const contextId = isObject(note) && typeof note.context_id === "string" ? note.context_id : sessionId;
  const history = messages.map((message, index) => messageOf(message, { taskId: runId, contextId, index }));
  const asksByWaiting = findQuestions(call, run) !== undefined;
  return new TaskFold({ taskId: runId, contextId, createTime, history, asksByWaiting });
}

/** Returns the fold of the log as it is now. */
export async function readTask(call: A2aCall, run: Run): Promise<TaskFold> {
  const fold = await openTask(call, run);
  const { runId } = run;
  const results = await readPages(async (pageToken) => {
    const page = await call.calls.call(runs.listRunResults, { runId, pageSize: pageSizeMax, pageToken });
    return { items: page.results, nextPageToken: page.nextPageToken };
  });
  for (const result of await withContents(call, run, results)) {
    fold.take(result);
  }
  return fold;
}

/** Returns the questions to which those of a run belong; undefined for a run whose waits ask nothing. */
export function findQuestions({ server }: A2aCall, { driver }: Run): TextQuestions | undefined {
  return server.questions.find((each) => each.driver === driver);
}

/** Follows the log of a run after the results that a fold has. An empty batch comes every 15 s. */
export async function* followTask(
  call: A2aCall,
  run: Run,
  fold: TaskFold,
  signal?: AbortSignal,
): AsyncGenerator<RunResult[]> {
  const request = { runId: run.runId, after: fold.sequence };
  for await (const { results } of call.calls.follow(runs.tailRun, request, signal)) {
    yield await withContents(call, run, results);
  }
}

/** Throws InvalidField for a length that no history has. */
export function assertHistoryLength(historyLength: number | undefined): void {
  if (historyLength !== undefined && historyLength < 0) {
    throw new InvalidField("historyLength", "must not be negative");
  }
}

/** Returns a task with at most as many messages as the client wants, newest last. */
export function trim(task: Task, historyLength: number | undefined): Task {
  assertHistoryLength(historyLength);
  return historyLength === undefined
    ? task
    : { ...task, history: historyLength === 0 ? [] : task.history.slice(-historyLength) };
}

/** Adds what the log leaves out: the content of artifacts, and the question of a wait that is the last result. */
async function withContents(call: A2aCall, run: Run, results: readonly RunResult[]): Promise<RunResult[]> {
  const whole = await Promise.all(results.map((result) => withContent(call, result)));
  const last = whole.at(-1);
  const question =
    last?.payload.case === "runWaiting" ? await findQuestions(call, run)?.read(call.values, run.sessionId) : undefined;
  if (last === undefined || question === undefined) {
    return whole;
  }
  const value = create(RunWaitingSchema, { reason: question });
  return [...whole.slice(0, -1), { ...last, payload: { case: "runWaiting", value } }];
}

async function withContent({ server, values }: A2aCall, result: RunResult): Promise<RunResult> {
  const { runId, sequence, payload } = result;
  if (payload.case !== "artifactCreated" || payload.value.contentBase64 !== undefined) {
    return result;
  }
  const contentBase64 = await readArtifact(server.agents, values, runId, artifactIdOf(sequence, payload.value));
  const value = { ...payload.value, ...(contentBase64 !== undefined && { contentBase64 }) };
  return create(RunResultSchema, { ...result, payload: { case: "artifactCreated", value } });
}
