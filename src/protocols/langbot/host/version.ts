// The version of the host. Like every call, it needs an active run.

import type { GetVersionRequest } from "#gen/runnel/host/v1/host_run_service_pb.js";
import { type HostContext, type HostDeps, withHostRun } from "./access.ts";

/** Returns the version of this service. */
export async function getVersion(
  deps: HostDeps & { readonly version: string },
  context: HostContext,
  { runId }: GetVersionRequest,
): Promise<string> {
  return await withHostRun(deps, context, { runId, action: "get_langbot_version" }, async () => deps.version);
}
