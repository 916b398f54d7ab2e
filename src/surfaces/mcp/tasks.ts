// Tasks: a run that its client polls. The id of the task is the run's, so a task outlives every replica.

import { timestampDate } from "@bufbuild/protobuf/wkt";
import { type Run, Run_State } from "#gen/runnel/v1/run_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { pageSizeMax, readPages } from "../../platform/base/lists.ts";
import { requireText, wrongParam } from "../in-process/json-rpc.ts";
import { decideAll, listQuestions } from "./approvals.ts";
import { answer, type McpCall } from "./call.ts";
import { endOf } from "./end.ts";
import { type CallEnd, CallFold } from "./fold.ts";
import { lacksTasks } from "./modern.ts";
import { findRun, type StartedRun } from "./start.ts";

const runs = RunService.method;

/** A new task, as the result of `tools/call`. */
export async function createdTask({ calls, server }: McpCall, { runId }: StartedRun): Promise<object> {
  const { run } = await calls.call(runs.getRun, { runId });
  return { resultType: "task", ...taskOf(run, server.retentionMs), status: "working" };
}

/** `tasks/get`. */
export async function getTask(call: McpCall): Promise<void> {
  answer(call, await describeTask(call, await requireTask(call)));
}

/** `tasks/update`: the answers to questions. A part of them is fine. */
export async function updateTask(call: McpCall): Promise<void> {
  const { runId } = await requireTask(call);
  await decideAll(call.calls, runId, call.params.inputResponses);
  answer(call, {});
}

/** `tasks/cancel`. An ended task stays as it is. */
export async function cancelTask(call: McpCall): Promise<void> {
  const { runId } = await requireTask(call);
  await call.calls.call(runs.cancelRun, { runId });
  answer(call, {});
}

/** Returns a task with its questions or its end. */
export async function describeTask(call: McpCall, started: StartedRun): Promise<object> {
  const { calls, server, abilities } = call;
  const { run } = await calls.call(runs.getRun, { runId: started.runId });
  const task = taskOf(run, server.retentionMs);
  switch (run?.state) {
    case Run_State.COMPLETED:
    case Run_State.FAILED: {
      const end = await readEnd(call, started);
      return "error" in end
        ? {
            ...task,
            status: "failed",
            error: { code: end.error.code, message: end.error.message, data: end.error.data },
          }
        : { ...task, status: "completed", result: end.result };
    }
    case Run_State.CANCELLED:
      return { ...task, status: "cancelled", statusMessage: run.error };
    default: {
      // A runner asks while it works.
      const inputRequests = abilities.elicitation ? await listQuestions(calls, started.runId) : {};
      return Object.keys(inputRequests).length > 0
        ? { ...task, status: "input_required", inputRequests }
        : { ...task, status: "working", ...(run?.waitReason && { statusMessage: `waits: ${run.waitReason}` }) };
    }
  }
}

/** Returns the runs of ids in their order. Refuses the id of another client's task as an unknown one. */
export async function requireTasks(
  call: McpCall,
  name: string,
  ids: readonly string[],
): Promise<readonly StartedRun[]> {
  const found: StartedRun[] = [];
  for (const [index, id] of ids.entries()) {
    found.push(await requireTaskOf(call, `${name}[${index}]`, id));
  }
  return found;
}

async function requireTask(call: McpCall): Promise<StartedRun> {
  if (!call.abilities.tasks) {
    throw lacksTasks();
  }
  return await requireTaskOf(call, "taskId", requireText(call.params, "taskId"));
}

async function requireTaskOf({ calls }: McpCall, name: string, taskId: string): Promise<StartedRun> {
  const run = await findRun(calls, taskId);
  if (run === undefined) {
    throw wrongParam(name, `there is no task ${JSON.stringify(taskId)}`);
  }
  return run;
}

function taskOf(run: Run | undefined, ttlMs: number): object {
  const created = run?.createTime === undefined ? new Date(0) : timestampDate(run.createTime);
  const updated = run?.endTime ?? run?.cancelRequestTime ?? run?.startTime;
  return {
    taskId: run?.runId ?? "",
    createdAt: created.toISOString(),
    lastUpdatedAt: (updated === undefined ? created : timestampDate(updated)).toISOString(),
    ttlMs,
    pollIntervalMs,
  };
}

/** How often clients should poll. */
const pollIntervalMs = 1_000;

async function readEnd(call: McpCall, started: StartedRun): Promise<CallEnd> {
  const { calls } = call;
  const { runId } = started;
  const results = await readPages(async (pageToken) => {
    const page = await calls.call(runs.listRunResults, { runId, pageSize: pageSizeMax, pageToken });
    return { items: page.results, nextPageToken: page.nextPageToken };
  });
  const fold = new CallFold(started);
  for (const result of results) {
    fold.take(result);
  }
  return await endOf(call, runId, fold);
}
