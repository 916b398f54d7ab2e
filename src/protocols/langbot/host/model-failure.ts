// Reports model failures to runners: the kind of failure, and whether to retry. The provider's own message is left out, since
// it may contain data of the service's operator.

import { circuitOpenCode } from "../../../agent/models/breaker.ts";
import type { ModelFailure } from "../../../agent/models/model.ts";
import { Fault } from "../../../platform/base/fault.ts";
import { reasons } from "../reasons.ts";

/** Returns the fault for a failed model call. Its metadata has the code of the failure. */
export function modelFault(modelId: string, failure: ModelFailure): Fault {
  const { code, retryable, retryAfterMs } = failure;
  return new Fault(
    retryable ? reasons.HOST_CALL_UNAVAILABLE : reasons.HOST_CALL_FAILED,
    `model ${modelId} failed: ${describe(code)}`,
    { cause: failure, metadata: { code }, ...(retryable && retryAfterMs !== undefined && { retryAfterMs }) },
  );
}

/** Returns the fault for an answer that the provider withheld. Not retryable: the same request gets no other answer. */
export function withheldFault(modelId: string): Fault {
  return new Fault(reasons.HOST_CALL_FAILED, `model ${modelId} failed: its provider withheld the answer`, {
    metadata: { code: "content_filter" },
  });
}

const words: Readonly<Record<string, string>> = {
  network: "its provider could not be reached",
  timeout: "its provider did not answer in time",
  cut: "its answer was cut off",
  unreadable: "its answer could not be read",
  finish: "it ended the answer early",
  stream_error: "its provider reported an error in the middle of the answer",
  [circuitOpenCode]: "its provider has failed too often and is not called for a while",
};

function describe(code: string): string {
  return words[code] ?? (/^\d{3}$/.test(code) ? `its provider answered with status ${code}` : "its provider failed");
}
