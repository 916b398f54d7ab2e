// Runs one call of a tool as the model wrote it. Every call ends in bounded time with exactly one outcome that the model can
// read. Bad arguments, a defect in the tool, the timeout and a cancelled run are outcomes too.

import { type Clock, over } from "../../platform/base/clock.ts";
import { parseArguments, type ToolArguments } from "./arguments.ts";
import { capContent } from "./cap.ts";
import type { Tool, ToolContext, ToolEffect, ToolOutcome } from "./tool.ts";

/** Contract: the timeout of one call is two minutes, including retries. */
export const callTimeoutMs = 120_000;

/** The reason of a call's signal when the timeout passes. */
export class CallTimeout extends Error {
  override readonly name = "CallTimeout";
}

/** The timeout and the clock. */
export interface CallOptions {
  readonly timeoutMs: number;
  readonly clock: Clock;
}

/**
 * Runs a call and never rejects. The tool gets one signal for the end of the run and for the timeout. After the signal, the
 * tool has `stopGraceMs` to end by itself and report what it has done.
 */
export async function runCall(
  tool: Tool,
  argumentsJson: string,
  context: ToolContext,
  options: CallOptions,
): Promise<ToolOutcome> {
  return await within<never>(argumentsJson, context, options, (args, stoppable) =>
    attempt<never>(() => tool.run(args, stoppable), stoppable),
  );
}

/** Like `runCall`, for callers that have a transaction for the effect of a call. */
export async function prepareCall(
  tool: Tool,
  argumentsJson: string,
  context: ToolContext,
  options: CallOptions,
): Promise<ToolOutcome | ToolEffect> {
  const { prepare } = tool;
  return prepare === undefined
    ? await runCall(tool, argumentsJson, context, options)
    : await within<ToolEffect>(argumentsJson, context, options, (args, stoppable) =>
        attempt<ToolEffect>(() => prepare(args, stoppable), stoppable),
      );
}

async function within<Effect extends ToolEffect>(
  argumentsJson: string,
  context: ToolContext,
  options: CallOptions,
  run: (args: ToolArguments, context: ToolContext) => Promise<ToolOutcome | Effect>,
): Promise<ToolOutcome | Effect> {
  const parsed = parseArguments(argumentsJson);
  if ("error" in parsed) {
    return parsed;
  }
  if (context.signal.aborted) {
    return { error: canceledText };
  }
  const stop = new AbortController();
  const ended = new AbortController();
  const cancel = (): void => stop.abort(new Error(canceledText));
  context.signal.addEventListener("abort", cancel, { once: true });
  try {
    return await Promise.race([
      run(parsed.args, { ...context, signal: stop.signal }),
      enforceEnd(stop, ended.signal, options),
    ]);
  } finally {
    ended.abort(over);
    context.signal.removeEventListener("abort", cancel);
  }
}

/** The text for a cancelled run, the same as in its terminal result. */
const canceledText = "context canceled";

/** Enough to kill a process tree or to close files. A tool that takes longer continues alone and its outcome is dropped. */
const stopGraceMs = 5_000;

async function attempt<Effect extends ToolEffect>(
  run: () => Promise<ToolOutcome | Effect>,
  context: ToolContext,
): Promise<ToolOutcome | Effect> {
  try {
    const outcome = await run();
    return "content" in outcome ? { ...outcome, content: capContent(outcome.content) } : outcome;
  } catch (error) {
    return { error: context.signal.aborted ? textOf(context.signal.reason) : `panic: ${textOf(error)}` };
  }
}

/** Resolves for a tool that did not end in time. After the end of the call, its result is ignored. */
async function enforceEnd(
  stop: AbortController,
  ended: AbortSignal,
  { timeoutMs, clock }: CallOptions,
): Promise<ToolOutcome> {
  await clock.sleep(timeoutMs, AbortSignal.any([stop.signal, ended]));
  if (!ended.aborted && !stop.signal.aborted) {
    stop.abort(new CallTimeout(`tool call timed out after ${timeoutMs / 1000} seconds`));
  }
  await clock.sleep(stopGraceMs, ended);
  return { error: textOf(stop.signal.reason) };
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
