// The failpoints of this protocol.

/** The failpoints of a runner's runs only: a worker accepts the run; its reports are applied and answered. */
export const failpoints = [
  "event.written",
  "event.committed",
  "offer.committed",
  "accept.written",
  "accept.committed",
  "report.taken",
  "reported.written",
  "report.applied",
] as const;

type Places = Readonly<Record<(typeof failpoints)[number], true>>;

declare module "../../platform/base/failpoint.ts" {
  interface ProtocolFailpoints extends Places {}
}
