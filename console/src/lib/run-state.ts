// States of runs.

import { Run_State } from "#gen/runnel/v1/run_pb.js";

/** Returns whether a run in this state has not ended. */
export function isActive(state: Run_State): boolean {
  return state === Run_State.QUEUED || state === Run_State.RUNNING || state === Run_State.WAITING;
}
