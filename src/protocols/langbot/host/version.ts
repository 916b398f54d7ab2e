// Which host this is. Even that is told to runs alone.

import type { GetVersionRequest } from "#gen/runnel/host/v1/host_run_service_pb.js";
import { type HostContext, type HostDeps, withHostRun } from "./access.ts";

export async function getVersion(
  deps: HostDeps & { readonly version: string },
  context: HostContext,
  { runId }: GetVersionRequest,
): Promise<string> {
  return await withHostRun(deps, context, { runId, action: "get_langbot_version" }, async () => deps.version);
}
