// The failpoints of this protocol.

/** The failpoints of decision cycles only: a cycle starts, calls its model, and performs its actions one by one. */
export const decisionFailpoints = [
  "cycle.written",
  "cycle.committed",
  "context.read",
  "decided.written",
  "decision.committed",
  "action.begun",
  "action.sent",
  "action.settled",
] as const;

/** The failpoints of an agent's transaction only: it is signed and stored, and it was sent. */
export const txFailpoints = ["tx.begun", "tx.sent"] as const;

/** The failpoints of this protocol. */
export const failpoints = [...decisionFailpoints, ...txFailpoints] as const;

type Places = Readonly<Record<(typeof failpoints)[number], true>>;

declare module "../../platform/base/failpoint.ts" {
  interface ProtocolFailpoints extends Places {}
}
