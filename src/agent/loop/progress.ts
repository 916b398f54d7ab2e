// The state of a run of the loop, as its checkpoints store it.

import type { ToolCall } from "#gen/runnel/v1/message_pb.js";
import type { RunContext } from "../../engine/runs/driver.ts";
import type { Amount } from "../budget/day-budget.ts";
import type { UsageTotals } from "../budget/usage.ts";
import type { KeptSkill } from "../skills/find-skills.ts";
import type { KeptTool } from "../tools/mcp/catalogue.ts";
import { type InvalidCalls, noInvalidCalls } from "./invalid-calls.ts";
import type { CallCounts } from "./repetition.ts";

/** A call that the caller makes. */
export type PendingCall = Pick<ToolCall, "id" | "name" | "arguments">;

/** The state of a run between two steps of the loop. */
export interface Progress {
  /** Model responses taken so far. */
  readonly turns: number;
  /** What comes next: a model response, or the tool calls of the last one. */
  readonly phase: "model" | "tools";
  /** True when the log already holds `turnStarted` for the next turn. */
  readonly announced: boolean;
  readonly usage: UsageTotals;
  /** What its child runs and all below them have used. */
  readonly delegated: UsageTotals;
  /** What the child runs of this turn may use. */
  readonly granted: Amount;
  /** The calls of the last response that its caller makes. */
  readonly pending: readonly PendingCall[];
  /** How often each call was answered, to detect repetition. */
  readonly callCounts: CallCounts;
  /** True when the token limit has cut the calls of the last response: each gets an error. */
  readonly isCut: boolean;
  /** True once the model has read such an error. */
  readonly wasCut: boolean;
  /** The calls that no tool could take. */
  readonly invalid: InvalidCalls;
  /** The tools of the agent's MCP servers, as they were at the start of the run; unset for an agent without servers. */
  readonly mcp?: readonly KeptTool[];
  /** The agent's skills, as they were at the start of the run; unset for an agent without skills. */
  readonly skills?: readonly KeptSkill[];
}

/** The state of a turn without child runs. */
export const nothingGranted: Amount = { tokens: 0, costMicroUsd: 0 };
const noTrouble = { isCut: false, wasCut: false, invalid: noInvalidCalls };

const start: Progress = {
  turns: 0,
  phase: "model",
  announced: false,
  usage: {},
  delegated: {},
  granted: nothingGranted,
  pending: [],
  callCounts: {},
  ...noTrouble,
};

/** Reads the checkpoint. Returns the initial state when there is no checkpoint yet. */
export function readProgress({ checkpoint }: RunContext): Progress {
  if (checkpoint === undefined) {
    return start;
  }
  // Older versions of the service wrote fewer fields.
  const state: Partial<Progress> = JSON.parse(Buffer.from(checkpoint.state).toString());
  return { ...start, ...state, turns: checkpoint.turn };
}

/** Returns the checkpoint for the given state. */
export function checkpointOf({ turns, ...state }: Progress): { turn: number; state: Uint8Array } {
  return { turn: turns, state: Buffer.from(JSON.stringify(state)) };
}
