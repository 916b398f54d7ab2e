// Turns a refused JobSpec into a Fault of the contract. It carries the signing contract's own code on every surface.

import { Fault, type ReasonName } from "../../../platform/base/fault.ts";
import { BodyFault, type SpecFault, type SpecFaultCode } from "../spec/spec-fault.ts";

/** Converts a refusal; its metadata has `error_code`, and `stage: "body"` for faults of the body. */
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
