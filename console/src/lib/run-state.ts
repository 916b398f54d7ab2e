// States of runs.

import { type Run, Run_State } from "#gen/runnel/v1/run_pb.js";
import { msOf } from "./format.ts";

/** Returns whether a run in this state has not ended. */
export function isActive(state: Run_State): boolean {
  return state === Run_State.QUEUED || state === Run_State.RUNNING || state === Run_State.WAITING;
}

/** Returns when a run for later is due; undefined for every other run. */
export function dueLater({ state, dueTime }: Run, nowMs: number): number | undefined {
  const dueMs = msOf(dueTime);
  return state === Run_State.QUEUED && dueMs !== undefined && dueMs > nowMs + laterMs ? dueMs : undefined;
}

/** Every queued run has a due time, and clocks differ a little. */
const laterMs = 2_000;
