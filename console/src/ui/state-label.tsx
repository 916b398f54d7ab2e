// The state of a run: a word with a shape and a colour, never a colour alone.

import type { Run_State } from "#gen/runnel/v1/run_pb.js";
import { stateNames } from "../../../src/platform/run-view/state-names.ts";

export function StateLabel({ state }: { readonly state: Run_State }) {
  const name = stateNames[state] ?? "unknown";
  return (
    <span className="state" data-state={name}>
      {name}
    </span>
  );
}
