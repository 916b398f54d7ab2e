// Whether a runner can take a run now, and whether a binding takes events: a word with a shape and a colour.

import type { Binding } from "#gen/runnel/runner/v1/binding_pb.js";
import { Runner_State } from "#gen/runnel/runner/v1/runner_pb.js";

const labels = {
  [Runner_State.UNSPECIFIED]: ["unknown", "queued"],
  [Runner_State.AVAILABLE]: ["available", "completed"],
  [Runner_State.OFFLINE]: ["offline", "cancelled"],
} as const satisfies Record<Runner_State, readonly [string, string]>;

export function RunnerState({ state }: { readonly state: Runner_State }) {
  const [word, look] = labels[state] ?? labels[Runner_State.UNSPECIFIED];
  return (
    <span className="state" data-state={look}>
      {word}
    </span>
  );
}

export function BindingState({ enabled }: Pick<Binding, "enabled">) {
  return (
    <span className="state" data-state={enabled === false ? "cancelled" : "completed"}>
      {enabled === false ? "disabled" : "enabled"}
    </span>
  );
}
