// Turns a refused JobSpec into a Fault of the contract. It carries the signing contract's own code on every surface.

import { Fault } from "../../../platform/base/fault.ts";
import type { Reason } from "../../../platform/base/reasons.ts";
import { reasons } from "../reasons.ts";
import { BodyFault, type SpecFault, type SpecFaultCode } from "../verification/spec-fault.ts";

/** Converts a refusal; its metadata has `error_code`, and `stage: "body"` for faults of the body. */
export function toFault(fault: SpecFault): Fault {
  const stage = fault instanceof BodyFault ? { stage: "body" } : {};
  const metadata = { error_code: fault.code, ...stage, ...fault.details };
  return new Fault(reasonOf(fault.code), fault.message, { metadata });
}

function reasonOf(code: SpecFaultCode): Reason {
  if (code === "replay_detected") {
    return reasons.JOBSPEC_REPLAYED;
  }
  return code.startsWith("trust_violation:") ? reasons.JOBSPEC_UNTRUSTED : reasons.JOBSPEC_INVALID;
}
