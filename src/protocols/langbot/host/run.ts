// The run itself, as its client sees it. Every runner may ask: this shows it that it has to stop.

import type { GetRunRequest } from "#gen/runnel/host/v1/host_run_service_pb.js";
import type { Run } from "#gen/runnel/v1/run_pb.js";
import { runToProto } from "../../../engine/runs/to-proto.ts";
import { findClientRun } from "../../../engine/storage/client-run.ts";
import { Fault } from "../../../platform/base/fault.ts";
import { type HostContext, type HostDeps, withHostRun } from "./access.ts";

/** Returns the run. Throws Fault RESOURCE_NOT_FOUND when it does not exist. */
export async function getRun(deps: HostDeps, context: HostContext, { runId }: GetRunRequest): Promise<Run> {
  return await withHostRun(deps, context, { runId, action: "run_get" }, async (run) => {
    const row = await findClientRun(deps.db, { client: run.scope.client, id: run.runId });
    if (row === undefined) {
      throw new Fault("RESOURCE_NOT_FOUND", "run not found");
    }
    return runToProto(row, { runnerId: run.scope.runnerId, bindingId: run.scope.bindingId });
  });
}
