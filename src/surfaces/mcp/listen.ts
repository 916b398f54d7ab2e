// Streams of changes: of the list of tools, and of tasks. The watch of the caller's runs keeps such a stream alive, ends it when the
// service stops, and counts it.

import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { isObject } from "../../platform/base/json/parse-object.ts";
import { printNotification, printResult, wrongParam } from "../in-process/json-rpc.ts";
import { isReason } from "../rest/failure.ts";
import { endStream, setHead } from "../rest/respond.ts";
import { sseHeartbeat } from "../rest/sse.ts";
import { streamHeaders, writeText } from "../rest/streamed-answer.ts";
import { finish, type McpCall } from "./call.ts";
import { lacksTasks } from "./modern.ts";
import type { StartedRun } from "./start.ts";
import { describeTask, requireTasks } from "./tasks.ts";
import { describe, findTools } from "./tools.ts";

/** `subscriptions/listen`. */
export async function listen(call: McpCall): Promise<void> {
  const wanted = call.params.notifications;
  if (!isObject(wanted)) {
    throw wrongParam("notifications", "must be an object");
  }
  const { toolsListChanged, taskIds = [] } = wanted;
  if (!Array.isArray(taskIds) || taskIds.length > taskIdsMax || taskIds.some((each) => typeof each !== "string")) {
    throw wrongParam("notifications.taskIds", `must be at most ${taskIdsMax} ids`);
  }
  if (taskIds.length > 0 && !call.abilities.tasks) {
    throw lacksTasks();
  }
  const tasks = await requireTasks(call, "notifications.taskIds", taskIds as string[]);
  const agreed = {
    ...(toolsListChanged === true && { toolsListChanged }),
    ...(tasks.length > 0 && { taskIds: tasks.map(({ runId }) => runId) }),
  };
  const _meta = { "io.modelcontextprotocol/subscriptionId": call.id };
  await sendChanges(call, {
    opening: printNotification("notifications/subscriptions/acknowledged", { notifications: agreed, _meta }),
    watchesTools: toolsListChanged === true,
    tasks,
    params: { _meta },
    closing: printResult(call.id, finish(call, { _meta })),
  });
}

/** The stream of a session: the changes of its tools. */
export async function listenInSession(call: McpCall): Promise<void> {
  await sendChanges(call, { opening: undefined, watchesTools: true, tasks: [], params: {}, closing: undefined });
}

const taskIdsMax = 100;

interface Changes {
  /** The first message; undefined for none. */
  readonly opening: string | undefined;
  readonly watchesTools: boolean;
  readonly tasks: readonly StartedRun[];
  /** What every notification has. */
  readonly params: object;
  /** The last message of a stream that the service ends; undefined for none. */
  readonly closing: string | undefined;
}

async function sendChanges(call: McpCall, changes: Changes): Promise<void> {
  const { calls, response } = call;
  const over = new AbortController();
  const signal = AbortSignal.any([over.signal, calls.signal]);
  const watch = calls.follow(RunService.method.watchRuns, {}, signal);
  // A refusal comes before the first response.
  await watch.next();
  using _tools = changes.watchesTools ? await watchTools(call, changes, over) : undefined;
  setHead(response, 200, streamHeaders);
  await writeText(call, changes.opening === undefined ? sseHeartbeat : event(changes.opening));
  try {
    for (const task of changes.tasks) {
      await sendTask(call, changes, task);
    }
    for await (const { change } of watch) {
      const task = changes.tasks.find(({ runId }) => change.case === "run" && runId === change.value.runId);
      await (task === undefined ? writeText(call, sseHeartbeat) : sendTask(call, changes, task));
    }
  } catch (error) {
    if (calls.signal.aborted) {
      return;
    }
    endStream(response, changes.closing === undefined ? "" : event(changes.closing));
    if (!isReason(error, "RESUME")) {
      throw error;
    }
  } finally {
    over.abort();
  }
}

async function sendTask(call: McpCall, { params }: Changes, task: StartedRun): Promise<void> {
  const described = await describeTask(call, task);
  await writeText(call, event(printNotification("notifications/tasks", { ...described, ...params })));
}

/** A stream whose tools cannot be read ends, and its client opens another. */
async function watchTools(call: McpCall, { params }: Changes, over: AbortController): Promise<Disposable> {
  const { server, client } = call;
  return await server.toolWatches.add(client, {
    read: async () => JSON.stringify((await findTools(call)).map(describe)),
    changed: () => writeText(call, event(printNotification("notifications/tools/list_changed", params))),
    failed: () => over.abort(),
  });
}

function event(json: string): string {
  return `event: message\ndata: ${json}\n\n`;
}
