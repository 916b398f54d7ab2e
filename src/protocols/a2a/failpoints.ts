// The failpoints of this protocol.

/** A message is about to be sent, and its task is known but not written yet. */
export const failpoints = ["a2a.sending", "a2a.answered"] as const;

type Places = Readonly<Record<(typeof failpoints)[number], true>>;

declare module "../../platform/base/failpoint.ts" {
  interface ProtocolFailpoints extends Places {}
}
