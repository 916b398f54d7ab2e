// A refused JobSpec as a failure of the contract: the signing contract's own code goes with it, whatever the surface.

import { Fault, type ReasonName } from "../../../platform/base/fault.ts";
import { BodyFault, type SpecFault, type SpecFaultCode } from "../spec/spec-fault.ts";

export function toFault(fault: SpecFault): Fault {
  const stage = fault instanceof BodyFault ? { stage: "body" } : {};
  const metadata = { error_code: fault.code, ...stage, ...fault.details };
  return new Fault(reasonOf(fault.code), fault.message, { metadata });
}

function reasonOf(code: SpecFaultCode): ReasonName {
  if (code === "replay_detected") {
    return "JOBSPEC_REPLAYED";
  }
  return code.startsWith("trust_violation:") ? "JOBSPEC_UNTRUSTED" : "JOBSPEC_INVALID";
}
