// The failpoints of this protocol.

/** The failpoints of signed jobs only: a job is accepted in one transaction before its client gets the answer. */
export const failpoints = ["job.written", "job.committed"] as const;

type Places = Readonly<Record<(typeof failpoints)[number], true>>;

declare module "../../platform/base/failpoint.ts" {
  interface ProtocolFailpoints extends Places {}
}
