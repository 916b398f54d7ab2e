// The state of a run: a word with a shape and a colour, never a colour alone.

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

export function StateLabel({ state }: { readonly state: Run_State }) {
  const name = stateNames[state] ?? "unknown";
  return (
    <span className="state" data-state={name}>
      {name}
    </span>
  );
}
