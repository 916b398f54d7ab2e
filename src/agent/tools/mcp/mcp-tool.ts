// A tool of an MCP server, as the agent loop calls it.

import type { Clock } from "../../../platform/base/clock.ts";
import { readSchema } from "../schema.ts";
import type { Tool, ToolContext, ToolOutcome } from "../tool.ts";
import type { KeptTool } from "./catalogue.ts";
import type { CallAnswer, CallTimes, McpCall, McpConnection, Progress } from "./connection.ts";
import { describeFailure, isRefusal, isUnknown } from "./failure.ts";
import { followTask } from "./follow-task.ts";
import type { CallTimer, FormCalls } from "./form-calls.ts";
import { progressCharsMax, progressIntervalMs } from "./limits.ts";
import { describeAsked, readResult } from "./outcome.ts";

/** What a tool needs of its server. */
export interface ServerOfTool extends CallTimes {
  readonly clock: Clock;
  readonly needsApproval: boolean;
  readonly afterCrash: Tool["afterCrash"];
  /** Undefined for a server that may ask for no forms. */
  readonly formCalls: FormCalls | undefined;
  /** Returns a connection that is open. */
  readonly connect: (context: ToolContext) => Promise<McpConnection>;
  /** Called when the server refuses a call: its list may have changed. */
  readonly refused: () => void;
  /** Hides the secrets of the server. */
  readonly hide: (text: string) => string;
}

/** The time limit for the compilation of a schema. A normal one takes a few milliseconds. */
const compileTimeMs = 200;

/** Creates the tool; undefined when no provider would accept its schema. `tell` takes each part that is left out. */
export function createMcpTool(kept: KeptTool, server: ServerOfTool, tell: (problem: string) => void): Tool | undefined {
  const schema = readSchema(kept.schema, compileTimeMs);
  if ("problem" in schema) {
    tell(`${kept.name}: the tool was left out: ${schema.problem}`);
    return undefined;
  }
  for (const problem of schema.problems) {
    tell(`${kept.name}: ${problem}`);
  }
  const { totalMs, needsApproval, afterCrash, formCalls } = server;
  return {
    name: kept.name,
    description: kept.description,
    parameters: schema.parameters,
    afterCrash,
    needsApproval,
    timeoutMs: formCalls === undefined ? totalMs + graceMs : unlimitedMs,
    run: async (args, context) => {
      const problem = schema.findProblem(args);
      if (problem !== undefined) {
        return { error: problem };
      }
      return formCalls === undefined
        ? await call(kept, server, args, context)
        : await formCalls.run(context, (timer) => call(kept, server, args, context, timer));
    },
  };
}

/** The limit of the call itself comes first: it tells the server that the call is over. */
const graceMs = 5_000;
/** The longest time of a timer: a call that asks for forms has a timer of its own. */
const unlimitedMs = 2 ** 31 - 1;

async function call(
  { tool, schema }: KeptTool,
  server: ServerOfTool,
  args: Readonly<Record<string, unknown>>,
  context: ToolContext,
  timer?: CallTimer,
): Promise<ToolOutcome> {
  const { hide } = server;
  const { totalMs, idleMs } = timer === undefined ? server : { totalMs: unlimitedMs, idleMs: unlimitedMs };
  try {
    const reported = reporter(server, context);
    const onProgress = (progress: Progress): void => {
      timer?.progress();
      reported(progress);
    };
    const following = { ...server, onStatus: (message: string, progress: number) => onProgress({ progress, message }) };
    const kept = context.call?.task;
    if (kept !== undefined) {
      return hideIn(await followTask({ taskId: kept, pollIntervalMs: undefined }, following, context), hide);
    }
    const answer = await callInSession(server, context, {
      tool: { name: tool, inputSchema: JSON.parse(schema) },
      ...{ args, onProgress, totalMs, idleMs },
      signal: timer === undefined ? context.signal : AbortSignal.any([context.signal, timer.signal]),
    });
    if ("result" in answer) {
      return hideIn(readResult(answer.result), hide);
    }
    if ("asked" in answer) {
      return { error: hide(describeAsked(answer.asked.inputRequests)) };
    }
    await keep(answer.task.taskId, context);
    return hideIn(await followTask(answer.task, following, context), hide);
  } catch (error) {
    if (context.signal.aborted) {
      throw error;
    }
    if (isRefusal(error)) {
      server.refused();
    }
    return { error: hide(describeFailure(error)) };
  }
}

/** Calls the tool. A server that has forgotten the session has not begun the call, so it is made once more, in a new session. */
async function callInSession(server: ServerOfTool, context: ToolContext, call: McpCall): Promise<CallAnswer> {
  const connection = await server.connect(context);
  try {
    return await connection.callTool(call);
  } catch (error) {
    if (connection.isOpen() || !isUnknown(error)) {
      throw error;
    }
    return await (await server.connect(context)).callTool(call);
  }
}

/** Waits until the task is durable, or the call ends. */
async function keep(taskId: string, { keepTask, signal }: ToolContext): Promise<void> {
  if (keepTask !== undefined && !signal.aborted) {
    const ended = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    await Promise.race([keepTask(taskId), ended]);
  }
}

function hideIn(outcome: ToolOutcome, hide: (text: string) => string): ToolOutcome {
  if ("error" in outcome) {
    return { error: hide(outcome.error) };
  }
  const { content, structured } = outcome;
  return {
    ...outcome,
    content: hide(content),
    ...(structured !== undefined && { structured: JSON.parse(hide(JSON.stringify(structured))) }),
  };
}

/** Returns a function that reports at most one progress in each interval. */
function reporter({ clock, hide }: ServerOfTool, { report }: ToolContext): (progress: Progress) => void {
  let nextMs = 0;
  let last = Number.NEGATIVE_INFINITY;
  return ({ progress, total, message = "" }) => {
    const nowMs = clock.monotonicMs();
    if (report === undefined || nowMs < nextMs || !(progress > last)) {
      return;
    }
    nextMs = nowMs + progressIntervalMs;
    last = progress;
    report({ progress, total, message: hide(message).slice(0, progressCharsMax).toWellFormed() });
  };
}
