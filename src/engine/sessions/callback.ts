// The callback URL of a session. A URL that is invalid by itself is refused when the session is created, in the words of the
// Agent Runner document. The addresses that its host resolves to are checked when it is dialled.

import type { Callback } from "#gen/runnel/v1/session_pb.js";
import { Fault } from "../../platform/base/fault.ts";
import type { Egress } from "../../platform/egress/post.ts";

/** Returns the URL for status callbacks: the session's own, else the service's; undefined for no callbacks. */
export function callbackUrlOf(callback: Callback | undefined, serviceUrl: string | undefined): string | undefined {
  return callback?.baseUrl || serviceUrl || undefined;
}

/**
 * Checks the callback URL of a new session.
 * @throws Fault INVALID_ARGUMENT when the URL is invalid or not permitted.
 */
export function checkCallback(callback: Callback | undefined, egress: Pick<Egress, "findProblem">): void {
  const baseUrl = callback?.baseUrl ?? "";
  const problem = baseUrl === "" ? undefined : egress.findProblem(baseUrl);
  if (problem !== undefined) {
    throw new Fault("INVALID_ARGUMENT", `invalid callback.base_url: ${problem}`, {
      violations: [{ field: "callback.base_url", description: problem }],
    });
  }
}
