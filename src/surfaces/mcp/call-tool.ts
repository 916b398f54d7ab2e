// `tools/call`: starts a run and answers with its end, or with a task that the client polls.

import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { isObject } from "../../platform/base/json/parse-object.ts";
import { followLog } from "../in-process/follow-log.ts";
import { type Params, requireText, toRpcError, wrongParam } from "../in-process/json-rpc.ts";
import { isReason } from "../rest/failure.ts";
import { CallAnswer } from "./answer.ts";
import { decideAll, listQuestions } from "./approvals.ts";
import { answer, type McpCall } from "./call.ts";
import { endOf } from "./end.ts";
import { CallFold } from "./fold.ts";
import { lacksTasks } from "./modern.ts";
import { CallRefused, findRun, type StartedRun, startRun } from "./start.ts";
import { createdTask } from "./tasks.ts";
import { requireTool, type Tool } from "./tools.ts";

/** `tools/call`. */
export async function callTool(call: McpCall): Promise<void> {
  const { params } = call;
  const name = requireText(params, "name");
  const args = params.arguments ?? {};
  if (!isObject(args)) {
    throw wrongParam("arguments", "must be an object");
  }
  if (params.requestState !== undefined) {
    await continueCall(call, name);
    return;
  }
  const tool = await requireTool(call, name);
  if (tool.tasks === "required" && !call.abilities.tasks) {
    throw lacksTasks();
  }
  const run = await startOrRefuse(call, tool, args);
  if (run !== undefined) {
    await (call.abilities.tasks && tool.tasks !== "never" ? answerSoon(call, tool, run) : answerCall(call, run, 0));
  }
}

/** Answers with the end of a run. `after` is the sequence that the client has. */
export async function answerCall(call: McpCall, run: StartedRun, after: number): Promise<void> {
  const { calls, isModern } = call;
  const { id = call.id, progress_token: token = call.progressToken } = run.note;
  const written = new CallAnswer(call, { runId: run.runId, id, progressToken: token });
  const fold = new CallFold(run);
  await written.open(after);
  let isOver = false;
  try {
    for await (const results of followLog(calls, run.runId)) {
      for (const result of results) {
        fold.take(result);
      }
      if (results.length === 0) {
        await written.beat(fold);
      } else if (!fold.hasEnded && fold.sequence > after) {
        await written.progress(fold);
      }
      const isNew = results.length > 0 && fold.sequence >= after;
      if (fold.isAsking && isNew && (await ask(call, run, fold, written))) {
        isOver = true;
        return;
      }
    }
    isOver = fold.hasEnded;
    const end = await endOf(call, run.runId, fold);
    if ("error" in end) {
      written.fail(end.error, fold.sequence);
    } else {
      written.end(end.result, fold.sequence);
    }
  } catch (error) {
    // A client with a session resumes the stream, on whichever replica.
    if (!isModern && isReason(error, "RESUME") && call.takesStream) {
      written.breakOff();
      return;
    }
    if (calls.signal.aborted) {
      throw error;
    }
    written.fail(toRpcError(error), fold.sequence);
    throw error;
  } finally {
    // Without a session nothing else can end or read the call.
    if (isModern && !isOver && calls.signal.aborted) {
      await cancel(call, run.runId);
    }
  }
}

/** Asks the client's people. Returns true when the call ends with the question, and the client repeats it with the answers. */
async function ask(call: McpCall, { runId }: StartedRun, fold: CallFold, written: CallAnswer): Promise<boolean> {
  const { abilities, calls, isModern, seals } = call;
  if (!abilities.elicitation || !call.takesStream) {
    return false;
  }
  const questions = await listQuestions(calls, runId);
  if (isModern && Object.keys(questions).length > 0) {
    const requestState = seals.seal(statePurpose, runId);
    written.end({ resultType: "input_required", inputRequests: questions, requestState }, fold.sequence);
    return true;
  }
  for (const [approvalId, question] of Object.entries(questions)) {
    await written.ask(approvalId, question, fold.sequence);
  }
  return false;
}

const statePurpose = "mcp call";

/** Continues a call that has asked the client's people. */
async function continueCall(call: McpCall, name: string): Promise<void> {
  const { calls, params, seals } = call;
  const state = params.requestState;
  const runId = typeof state === "string" ? seals.open(statePurpose, state) : undefined;
  const run = runId === undefined ? undefined : await findRun(calls, runId);
  if (run?.note.tool !== name) {
    throw wrongParam("requestState", "was not made for this call");
  }
  if (!isObject(params.inputResponses)) {
    throw wrongParam("inputResponses", "must be an object");
  }
  await decideAll(calls, run.runId, params.inputResponses);
  await answerCall(call, run, 0);
}

async function startOrRefuse(call: McpCall, tool: Tool, args: Params): Promise<StartedRun | undefined> {
  try {
    return await startRun(call, tool, args);
  } catch (error) {
    if (error instanceof CallRefused) {
      answer(call, { content: [{ type: "text", text: error.message }], isError: true });
      return undefined;
    }
    throw error;
  }
}

/** Answers with the end of a short run, and with a task for a longer one. The run is durable already. */
async function answerSoon(call: McpCall, tool: Tool, run: StartedRun): Promise<void> {
  const { calls, clock } = call;
  const fold = new CallFold(run);
  if (tool.tasks !== "required") {
    const patience = new AbortController();
    const wait = clock.sleep(patienceMs, patience.signal).then(() => patience.abort());
    const signal = AbortSignal.any([patience.signal, calls.signal]);
    try {
      for await (const results of followLog(calls, run.runId, signal)) {
        for (const result of results) {
          fold.take(result);
        }
      }
    } catch (error) {
      if (!signal.aborted) {
        throw error;
      }
    }
    patience.abort();
    await wait;
  }
  if (!fold.hasEnded) {
    answer(call, await createdTask(call, run));
    return;
  }
  const end = await endOf(call, run.runId, fold);
  if ("error" in end) {
    throw end.error;
  }
  answer(call, end.result);
}

/** Most clients poll after a second: a run that ends sooner spares them that. */
const patienceMs = 500;

/** Cancels a run, also when the client has left. */
export async function cancel({ calls }: Pick<McpCall, "calls">, runId: string): Promise<void> {
  await calls.call(RunService.method.cancelRun, { runId }, { outlives: true }).catch(() => undefined);
}
