// The calls of a turn as entries of the log.

import type { ToolCall } from "#gen/runnel/v1/message_pb.js";
import type { ToolCallCompleted } from "#gen/runnel/v1/result_pb.js";
import type { ResultInit } from "../../engine/log/result.ts";
import type { DriverStep, OpenToolCall, StepEffects } from "../../engine/runs/driver.ts";
import { parseObject } from "../../platform/base/json/parse-object.ts";
import { parseArguments } from "../tools/arguments.ts";
import type { Tool } from "../tools/tool.ts";

/** The maximum number of calls in one turn. A model that asks for more is lost; the other calls are answered as skipped. */
export const callsPerTurnMax = 10;

/** Returns the log entries of the calls of a turn, after the message that asks for them. */
export function startedResults(message: ResultInit, calls: readonly ToolCall[]): ResultInit[] {
  return [message, ...calls.map(startedCall)];
}

function startedCall(call: ToolCall): ResultInit {
  const value = { toolCallId: call.id, toolName: call.name, parameters: parametersOf(call) };
  return { payload: { case: "toolCallStarted", value } };
}

/** Returns the arguments of a call as a JSON object. A model may write invalid JSON, and the log holds only JSON. */
export function parametersOf({ arguments: json }: ToolCall): string {
  return parseObject(json) === undefined ? "{}" : json;
}

/** The outcomes of all calls of a turn, in call order, and the log entries that they add. */
export interface TurnOutcomes {
  readonly outcomes: readonly ToolCallCompleted[];
  readonly changes: readonly ResultInit[];
}

/** Returns the log entries that the successful calls of a turn add, in call order. */
export function changesOf(
  calls: readonly OpenToolCall[],
  outcomes: readonly ToolCallCompleted[],
  tools: readonly Tool[],
): ResultInit[] {
  return calls.flatMap(({ call }, position) => {
    const changes = tools.find(({ name }) => name === call.name)?.changes;
    const parsed = parseArguments(call.arguments);
    const isDone = outcomes[position]?.error === undefined && "args" in parsed;
    return changes !== undefined && isDone ? changes(parsed.args) : [];
  });
}

/** Returns the step that commits the outcomes of a turn. */
export function commitOutcomes(turn: number, { outcomes, changes }: TurnOutcomes, effects: StepEffects): DriverStep {
  const completed = outcomes.map((value): ResultInit => ({ payload: { case: "toolCallCompleted", value } }));
  return {
    kind: "commit",
    results: [...completed, ...changes],
    effects: { ...effects, toolResultsOfTurn: turn },
  };
}
