// Follows a task of a server to its end: on this replica, or on the one that takes the run over.

import type { Clock } from "../../../platform/base/clock.ts";
import { isObject } from "../../../platform/base/json/parse-object.ts";
import type { ToolContext, ToolOutcome } from "../tool.ts";
import type { McpConnection } from "./connection.ts";
import { describeFailure, isPassing } from "./failure.ts";
import { errorCharsMax, pollIntervalMs } from "./limits.ts";
import { describeAsked, readResult } from "./outcome.ts";
import type { DescribedTask, StartedTask } from "./tasks.ts";

/** What following a task needs. */
export interface Following {
  readonly clock: Clock;
  readonly connect: (context: ToolContext) => Promise<McpConnection>;
  /** The maximum time. */
  readonly totalMs: number;
  /** Takes what the server says of the task, each time that it says something else. */
  readonly onStatus: (message: string, count: number) => void;
}

/**
 * Returns the result of a task. Asks the server to cancel the task when the call ends before it, unless another replica continues the run.
 * A server that is away for a while is asked again.
 */
export async function followTask(task: StartedTask, following: Following, context: ToolContext): Promise<ToolOutcome> {
  const { clock, totalMs } = following;
  const startMs = clock.monotonicMs();
  const isLate = () => clock.monotonicMs() - startMs >= totalMs;
  let { pollIntervalMs: wanted } = task;
  let said = "";
  for (let count = 1; !context.signal.aborted && !isLate(); count++) {
    const state = await look(task.taskId, following, context);
    if (state !== undefined) {
      const end = readEnd(state);
      if (end !== undefined) {
        await (state.status === "input_required" ? cancel(task.taskId, following, context) : undefined);
        return end;
      }
      wanted = typeof state.pollIntervalMs === "number" ? state.pollIntervalMs : wanted;
      const message = typeof state.statusMessage === "string" ? state.statusMessage : "";
      if (message !== said) {
        said = message;
        following.onStatus(message, count);
      }
    }
    await clock.sleep(intervalOf(wanted), context.signal);
  }
  if (context.isHandedOn?.() !== true) {
    await cancel(task.taskId, following, context);
  }
  context.signal.throwIfAborted();
  return { error: "the server did not end the task in time" };
}

/** Returns undefined when the server is away. */
async function look(taskId: string, { connect }: Following, context: ToolContext): Promise<DescribedTask | undefined> {
  try {
    return await (await connect(context)).getTask(taskId, context.signal);
  } catch (error) {
    if (context.signal.aborted || isPassing(error)) {
      return undefined;
    }
    throw error;
  }
}

async function cancel(taskId: string, { connect }: Following, context: ToolContext): Promise<void> {
  const connection = await connect(context).catch(() => undefined);
  await connection?.cancelTask(taskId);
}

/** Returns the outcome of a task that has ended, or that cannot end; undefined for one that is at work. */
function readEnd({ status, result, error, inputRequests, statusMessage }: DescribedTask): ToolOutcome | undefined {
  switch (status) {
    case "completed":
      return isObject(result) ? readResult(result) : { error: "the server's task has no result that can be read" };
    case "failed":
      return { error: describeFailure(failureOf(error)) };
    case "cancelled":
      return {
        error: `the server cancelled the task: ${String(statusMessage ?? "no reason given")}`.slice(0, errorCharsMax),
      };
    case "input_required":
      return { error: describeAsked(inputRequests) };
    case "working":
      return undefined;
    default:
      return { error: `the server's task has the unknown status ${JSON.stringify(status)?.slice(0, 100)}` };
  }
}

function failureOf(error: unknown): Error {
  const { code, message } = isObject(error) ? error : {};
  return new Error(`the server answered with the error ${String(code)}: ${String(message)}`);
}

function intervalOf(wantedMs: number = pollIntervalMs.default): number {
  return Math.min(Math.max(wantedMs, pollIntervalMs.min), pollIntervalMs.max);
}
