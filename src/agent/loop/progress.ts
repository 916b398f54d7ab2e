// Where a run of the loop stands: what its checkpoints hold and what it goes on from.

import type { RunContext } from "../../engine/runs/driver.ts";
import type { UsageTotals } from "../budget/usage.ts";
import type { CallCounts } from "./repetition.ts";

export interface Progress {
  /** Model responses taken so far. */
  readonly turns: number;
  /** What comes next: a model response, or the tool calls of the last one. */
  readonly phase: "model" | "tools";
  /** True when the log says already that the next turn has started. */
  readonly announced: boolean;
  readonly usage: UsageTotals;
  /** Calls that were answered, for noticing repetition. */
  readonly callCounts: CallCounts;
}

const start: Progress = { turns: 0, phase: "model", announced: false, usage: {}, callCounts: {} };

/** The start before the first checkpoint. */
export function readProgress({ checkpoint }: RunContext): Progress {
  if (checkpoint === undefined) {
    return start;
  }
  // A version before this one wrote less.
  const state: Partial<Progress> = JSON.parse(Buffer.from(checkpoint.state).toString());
  return { ...start, ...state, turns: checkpoint.turn };
}

export function checkpointOf({ turns, ...state }: Progress): { turn: number; state: Uint8Array } {
  return { turn: turns, state: Buffer.from(JSON.stringify(state)) };
}
