// Calls that hand the conversation over to another agent: from the next response on, the run has its settings.

import { create } from "@bufbuild/protobuf";
import type { ToolCall } from "#gen/runnel/v1/message_pb.js";
import type { ToolCallCompleted } from "#gen/runnel/v1/result_pb.js";
import { type Agent, AgentSchema, type Subagent } from "#gen/runnel/v1/session_pb.js";
import type { ResultInit } from "../../engine/log/result.ts";
import type { OpenToolCall, StepEffects } from "../../engine/runs/driver.ts";
import { Fault } from "../../platform/base/fault.ts";
import { isHandoff } from "../tools/handoff.ts";
import type { Tool, ToolOutcome } from "../tools/tool.ts";
import type { ResolveSubagent } from "./child-runs.ts";
import { noInvalidCalls } from "./invalid-calls.ts";
import type { Progress } from "./progress.ts";

/** The agent of a run, and how to find those that it names. */
export interface Handing {
  readonly client: string;
  readonly agent: Agent;
  readonly resolve: ResolveSubagent;
}

/** The agent that has the conversation from now on. */
export interface Handoff {
  readonly agent: Agent;
  readonly result: ResultInit;
  readonly effect: StepEffects["handoff"];
}

/** Returns the tools. A call that hands over to an agent that cannot be found fails, and the model learns why. */
export function checkHandoffs(tools: readonly Tool[], handing: Handing): readonly Tool[] {
  return tools.map((tool) =>
    isHandoff(tool)
      ? { ...tool, run: async (args, context) => findProblem(tool.handsTo, handing) ?? (await tool.run(args, context)) }
      : tool,
  );
}

function findProblem(subagent: Subagent, handing: Handing): ToolOutcome | undefined {
  const found = takeOver(subagent, handing);
  return "error" in found ? found : undefined;
}

/**
 * Returns the agent to which the calls of a turn have handed over: that of the last such call; undefined without one. A replica with other
 * settings than the one that ran the call may not find it.
 */
export function findHandoff(
  calls: readonly OpenToolCall[],
  outcomes: readonly ToolCallCompleted[],
  { tools, ...handing }: Handing & { readonly tools: readonly Tool[] },
): Handoff | { readonly error: string } | undefined {
  for (const [position, { call }] of [...calls.entries()].toReversed()) {
    const tool = tools.find(({ name }) => name === call.name);
    if (isHandoff(tool) && outcomes[position]?.error === undefined) {
      return handoffOf(call, tool.handsTo, handing);
    }
  }
  return undefined;
}

function handoffOf(call: ToolCall, subagent: Subagent, handing: Handing): Handoff | { readonly error: string } {
  const found = takeOver(subagent, handing);
  if ("error" in found) {
    return found;
  }
  const { agent, model } = found;
  const value = { toolCallId: call.id, fromAgent: handing.agent.name, toAgent: agent.name, model };
  return {
    agent,
    result: { payload: { case: "handoffCompleted", value } },
    effect: { agent, model },
  };
}

/**
 * Returns the settings with which the agent continues, or why they cannot be found. The limits of the run and the memory of the
 * conversation stay.
 */
function takeOver(
  subagent: Subagent,
  { client, agent: from, resolve }: Handing,
): { readonly agent: Agent; readonly model: string } | { readonly error: string } {
  try {
    const { agent, model } = resolve(subagent, { client, agent: from });
    const { budget, maxTurns } = from;
    const compaction = agent.compaction ?? from.compaction;
    const kept = { maxTurns, ...(budget && { budget }), ...(compaction && { compaction }) };
    return { model, agent: create(AgentSchema, { ...agent, model, ...kept }) };
  } catch (error) {
    if (error instanceof Fault) {
      return { error: `not handed over: ${error.message}` };
    }
    throw error;
  }
}

/** Returns the progress with which the other agent begins: what its predecessor could not do says nothing about its own tools. */
export function progressAfterHandoff({ mcp: _mcp, skills: _skills, ...progress }: Progress): Progress {
  return { ...progress, callCounts: {}, invalid: noInvalidCalls };
}
