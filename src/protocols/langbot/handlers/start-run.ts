// StartRun: starts the run of an event. The run is durable when its client gets the answer. It then waits for a worker, or for
// a replica that dials its runner.

import { create } from "@bufbuild/protobuf";
import {
  RunnerService,
  type StartRunRequest,
  type StartRunResponse,
  StartRunResponseSchema,
} from "#gen/runnel/runner/v1/runner_service_pb.js";
import { readAnnotations } from "../../../api/annotations.ts";
import { claimCall, keepAnswer, type RepeatableCall, recallAnswer, repeatable } from "../../../api/idempotency.ts";
import { admit } from "../../../engine/runs/admission.ts";
import { runToProto } from "../../../engine/runs/to-proto.ts";
import { findClientRun } from "../../../engine/storage/client-run.ts";
import { failpoint } from "../../../platform/base/failpoint.ts";
import { Fault } from "../../../platform/base/fault.ts";
import { type PreparedStart, prepareStart, type StartEventDeps, writeStart } from "../runners/start-event.ts";
import type { LangbotDeps } from "./deps.ts";

/** Starts a run, or returns the earlier answer to the same request id. */
export async function startRunOfEvent(
  services: LangbotDeps & StartEventDeps,
  client: string,
  request: StartRunRequest,
  traceParent: string | undefined,
): Promise<StartRunResponse> {
  const { event } = request;
  if (event === undefined) {
    throw new Fault("INTERNAL", "the request has no event after its validation");
  }
  const call = repeatable(client, RunnerService.method.startRun, request);
  // Looked up first: a retry gets its answer even when the binding was deleted meanwhile.
  const earlier = await recallAnswer(services.db, call);
  if (earlier !== undefined) {
    return earlier;
  }
  const annotations = readAnnotations(request.annotations);
  const prepared = await prepareStart(services, { client, event, annotations, traceParent });
  const response = await commitStart(services, client, prepared, call);
  failpoint("event.committed");
  services.wakeup.publish({ topic: prepared.address === undefined ? "offer" : "queue", key: "", value: 0 });
  return response;
}

/** Writes the run and the answer, unless another call has done so meanwhile. */
async function commitStart(
  services: LangbotDeps & StartEventDeps,
  client: string,
  prepared: PreparedStart,
  call: RepeatableCall<typeof StartRunResponseSchema>,
): Promise<StartRunResponse> {
  let isStarted = false;
  try {
    return await services.db.transaction().execute(async (trx) => {
      const known = await claimCall(trx, call);
      if (known !== undefined) {
        return known;
      }
      await admit(trx, services, client);
      const id = await writeStart(trx, services, prepared);
      const run = await findClientRun(trx, { client, id });
      const { runnerId, bindingId } = prepared.scope;
      const shown = run && { run: runToProto(run, { runnerId, bindingId }) };
      isStarted = true;
      return await keepAnswer(trx, call, create(StartRunResponseSchema, shown));
    });
  } finally {
    // The programs of MCP servers have worked in the directory of a session that was not made.
    if (!isStarted && prepared.authorized.servers !== undefined) {
      await services.workDirs.remove({ id: prepared.session, client });
    }
  }
}
