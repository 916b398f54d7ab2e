// Where a session is called back, and what of that can be refused when the session is created, in the words of the Agent
// Runner document. What a name resolves to is looked at when it is dialled.

import type { Callback } from "#gen/runnel/v1/session_pb.js";
import { Fault } from "../../platform/base/fault.ts";
import type { Egress } from "../../platform/egress/post.ts";

/** Where the transitions of a session are told: what it says itself, else what the service says for all. */
export function callbackUrlOf(callback: Callback | undefined, serviceUrl: string | undefined): string | undefined {
  return callback?.baseUrl || serviceUrl || undefined;
}

export function checkCallback(callback: Callback | undefined, egress: Pick<Egress, "findProblem">): void {
  const baseUrl = callback?.baseUrl ?? "";
  const problem = baseUrl === "" ? undefined : egress.findProblem(baseUrl);
  if (problem !== undefined) {
    throw new Fault("INVALID_ARGUMENT", `invalid callback.base_url: ${problem}`, {
      violations: [{ field: "callback.base_url", description: problem }],
    });
  }
}
