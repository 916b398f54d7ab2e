// The state of an exchange: a word with a shape and a colour, as for runs.

import { Exchange_State } from "#gen/runnel/exchange/v1/exchange_pb.js";

const stateNames = {
  [Exchange_State.UNSPECIFIED]: "unknown",
  [Exchange_State.WAITING]: "waiting",
  [Exchange_State.WORKING]: "running",
  [Exchange_State.COMPLETED]: "completed",
  [Exchange_State.FAILED]: "failed",
  [Exchange_State.CANCELLED]: "cancelled",
} as const satisfies Record<Exchange_State, string>;

export function ExchangeLabel({ state }: { readonly state: Exchange_State }) {
  const name = stateNames[state] ?? "unknown";
  return (
    <span className="state" data-state={name}>
      {name === "running" ? "working" : name}
    </span>
  );
}
