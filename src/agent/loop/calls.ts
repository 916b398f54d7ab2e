// The calls of a turn as entries of the log.

import type { ToolCall } from "#gen/runnel/v1/message_pb.js";
import type { ToolCallCompleted } from "#gen/runnel/v1/result_pb.js";
import type { ResultInit } from "../../engine/log/result.ts";
import type { DriverStep, StepEffects } from "../../engine/runs/driver.ts";
import { parseObject } from "../../platform/base/json/parse-object.ts";

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

/** Returns the step that commits the outcomes of all calls of a turn, in call order. */
export function commitOutcomes(turn: number, outcomes: readonly ToolCallCompleted[], effects: StepEffects): DriverStep {
  return {
    kind: "commit",
    results: outcomes.map((value) => ({ payload: { case: "toolCallCompleted", value } })),
    effects: { ...effects, toolResultsOfTurn: turn },
  };
}
