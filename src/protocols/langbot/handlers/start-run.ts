// StartRun: the run of an event is durable when its caller is answered, and waits for a worker or for a replica that dials.

import { create } from "@bufbuild/protobuf";
import {
  type StartRunRequest,
  StartRunRequestSchema,
  type StartRunResponse,
  StartRunResponseSchema,
} from "#gen/runnel/runner/v1/runner_service_pb.js";
import { answerOnce, recallAnswer } from "../../../api/idempotency.ts";
import { admit } from "../../../engine/runs/admission.ts";
import { runToProto } from "../../../engine/runs/to-proto.ts";
import { findClientRun } from "../../../engine/storage/run.ts";
import { failpoint } from "../../../platform/base/failpoint.ts";
import { Fault } from "../../../platform/base/fault.ts";
import type { Transaction } from "../../../platform/database/database.ts";
import { type PreparedStart, prepareStart, type StartEventDeps, writeStart } from "../runners/start-event.ts";
import type { LangbotDeps } from "./deps.ts";

export async function startRunOfEvent(
  services: LangbotDeps & StartEventDeps,
  client: string,
  request: StartRunRequest,
  traceParent: string | undefined,
): Promise<StartRunResponse> {
  const { event } = request;
  if (event === undefined) {
    throw new Fault("INTERNAL", "a request without an event has passed its check");
  }
  const call = {
    client,
    request,
    requestId: request.requestId,
    requestSchema: StartRunRequestSchema,
    responseSchema: StartRunResponseSchema,
  };
  // Also when the binding has gone meanwhile.
  const earlier = await recallAnswer(services.db, call);
  if (earlier !== undefined) {
    return earlier;
  }
  const prepared = await prepareStart(services, { client, event, traceParent });
  const response = await services.db
    .transaction()
    .execute((trx) => answerOnce(trx, call, () => start(trx, services, prepared)));
  failpoint("event.committed");
  services.wakeup.publish({ topic: prepared.address === undefined ? "offer" : "queue", key: "", value: 0 });
  return response;
}

async function start(
  trx: Transaction,
  deps: LangbotDeps & StartEventDeps,
  prepared: PreparedStart,
): Promise<StartRunResponse> {
  const { client, scope } = prepared;
  await admit(trx, deps, client);
  const id = await writeStart(trx, deps, prepared);
  const run = await findClientRun(trx, { client, id });
  return create(
    StartRunResponseSchema,
    run === undefined ? {} : { run: runToProto(run, { runnerId: scope.runnerId, bindingId: scope.bindingId }) },
  );
}
