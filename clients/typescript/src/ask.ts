// Functions that the caller runs: a run that calls them ends, and their results begin the next run of the session.

import { create, type MessageInitShape } from "@bufbuild/protobuf";
import type { MessageSchema, ToolCall } from "../../../gen/runnel/v1/message_pb.js";
import type { RunResult } from "../../../gen/runnel/v1/result_pb.js";
import { AgentSchema, AgentToolsSchema, FunctionToolSchema } from "../../../gen/runnel/v1/session_pb.js";
import type { FollowOptions } from "./follow.ts";
import type { SendOptions } from "./send-options.ts";

/** A function that the model may call. */
export interface CallerFunction {
  /** Letters, digits, `_` and `-`. */
  readonly name: string;
  /** For the model. */
  readonly description?: string;
  /** JSON Schema of the arguments, an object; unset means no arguments. */
  readonly parameters?: Readonly<Record<string, unknown>>;
  /**
   * Runs the function. The model gets a text as it is, and anything else as JSON. It also gets the message of what is thrown, and
   * may try again.
   */
  // biome-ignore lint/suspicious/noExplicitAny: its author knows the arguments, which `parameters` describes.
  readonly run: (args: any) => unknown;
}

interface Caller {
  readonly send: (message: string, options: SendOptions) => Promise<{ readonly runId: string }>;
  readonly follow: (runId: string, options: FollowOptions) => AsyncGenerator<RunResult, void>;
}

/** Yields the results of all runs. */
export async function* askRuns(
  { send, follow }: Caller,
  question: string,
  functions: readonly CallerFunction[],
  options: SendOptions & FollowOptions,
): AsyncGenerator<RunResult, void> {
  const { signal, timeoutMs, idleTimeoutMs, agent, messages, ...settings } = options;
  // The deadline counts from here, over all runs.
  const deadlineMs = timeoutMs === undefined ? undefined : performance.now() + timeoutMs;
  const limits = () => ({ signal, timeoutMs: deadlineMs && Math.max(0, deadlineMs - performance.now()) });
  const shared = { ...settings, agent: withFunctions(agent, functions) };
  const first = { ...shared, ...(messages && { messages }), ...limits() };
  let { runId } = await send(question, first);
  for (;;) {
    let pending: readonly ToolCall[] = [];
    for await (const result of follow(runId, { idleTimeoutMs, ...limits() })) {
      pending = result.payload.case === "runCompleted" ? result.payload.value.pendingToolCalls : [];
      yield result;
    }
    if (pending.length === 0) {
      return;
    }
    const answers = await Promise.all(pending.map((call) => answer(call, functions)));
    const { requestId: _, ...rest } = shared;
    ({ runId } = await send("", { ...rest, messages: answers, ...limits() }));
  }
}

function withFunctions(agent: SendOptions["agent"], functions: readonly CallerFunction[]) {
  const described = functions.map(({ name, description = "", parameters }) =>
    create(FunctionToolSchema, { name, description, ...(parameters && { parameters: JSON.stringify(parameters) }) }),
  );
  const settings = create(AgentSchema, agent);
  const { builtin = [], remote = [] } = settings.tools ?? {};
  return { ...settings, tools: create(AgentToolsSchema, { builtin, remote, functions: described }) };
}

async function answer(
  { id, name, arguments: text }: ToolCall,
  functions: readonly CallerFunction[],
): Promise<MessageInitShape<typeof MessageSchema>> {
  const message = { role: "tool", toolCallId: id };
  try {
    const called = functions.find((each) => each.name === name);
    if (called === undefined) {
      throw new Error(`there is no function ${name}`);
    }
    const result = await called.run(JSON.parse(text || "{}"));
    const value = typeof result === "string" ? result : (JSON.stringify(result) ?? "");
    return { ...message, content: { case: "text", value } };
  } catch (error) {
    const value = error instanceof Error ? error.message : String(error);
    return { ...message, content: { case: "text", value }, isError: true };
  }
}
