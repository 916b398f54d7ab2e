// The states of a run, as files and the console name them.

import { Run_State } from "#gen/runnel/v1/run_pb.js";

export const stateNames = {
  [Run_State.UNSPECIFIED]: "unknown",
  [Run_State.QUEUED]: "queued",
  [Run_State.RUNNING]: "running",
  [Run_State.WAITING]: "waiting",
  [Run_State.COMPLETED]: "completed",
  [Run_State.FAILED]: "failed",
  [Run_State.CANCELLED]: "cancelled",
} as const satisfies Record<Run_State, string>;
