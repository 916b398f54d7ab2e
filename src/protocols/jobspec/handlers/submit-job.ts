// SubmitJob: verifies a submission, and queues its runs in one transaction with everything that must exist together with them.
//
// S1  The nonce, the job, its runs and the answer to a request id are written together. Of all callers with the same spec, one
//     makes the job. Those with its request id get the same answer.
// S2  A refused spec stores nothing but the refusal: not even its nonce is used up.
// S3  When the service cannot know whether a nonce is new, it accepts nothing.

import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ContextValues } from "@connectrpc/connect";
import {
  JobService,
  type SubmitJobRequest,
  SubmitJobRequestSchema,
  type SubmitJobResponse,
  SubmitJobResponseSchema,
} from "#gen/runnel/job/v1/job_service_pb.js";
import { claimCall, keepAnswer, recallAnswer, repeatable } from "../../../api/idempotency.ts";
import { requireClient } from "../../../platform/auth/caller.ts";
import { failpoint } from "../../../platform/base/failpoint.ts";
import { Fault } from "../../../platform/base/fault.ts";
import { restCallNotes } from "../../../platform/base/rest-call.ts";
import { traceParentOf } from "../../../platform/base/trace-parent.ts";
import { isOutage } from "../../../platform/database/errors.ts";
import { recordRefusal } from "../jobs/audit.ts";
import { toFault } from "../jobs/refusal.ts";
import { type AcceptedJob, acceptJob, takeNonce, verifySpec } from "../jobs/submit.ts";
import { reasons } from "../reasons.ts";
import type { ReadDocument } from "../verification/json.ts";
import { readRequest } from "../verification/request.ts";
import { SpecFault } from "../verification/spec-fault.ts";
import type { JobDeps } from "./deps.ts";

/**
 * Accepts a job, or returns the earlier answer to the same request id.
 * @throws Fault when the spec is refused, REPLAY_UNPROTECTED when the database is away, and those of `claimCall` and `admit`.
 */
export async function submitJob(
  deps: JobDeps,
  { document, requestId }: SubmitJobRequest,
  values: ContextValues,
): Promise<SubmitJobResponse> {
  const { client } = requireClient(values);
  const body = document?.data ?? new Uint8Array();
  const submitted: Submitted = { client, body };
  try {
    // The content type does not count.
    const counted = create(SubmitJobRequestSchema, { requestId, document: { data: body } });
    const call = repeatable(client, JobService.method.submitJob, counted);
    // Before the gate, so a retry gets its answer even when the spec has expired meanwhile.
    const earlier = await recallAnswer(deps.db, call);
    if (earlier !== undefined) {
      return repeated(earlier, values);
    }
    const request = readRequest(body);
    submitted.document = request.document;
    // Before the transaction, which would hold a connection while it looks up the key and checks the signature.
    const verified = await verifySpec(deps, request.document, client);
    const response = await deps.db.transaction().execute(async (trx) => {
      const known = await claimCall(trx, call);
      if (known !== undefined) {
        return repeated(known, values);
      }
      await takeNonce(trx, verified);
      const job = await acceptJob(trx, deps, { ...request, client, verified, traceParent: traceParentOf(values) });
      return await keepAnswer(trx, call, acceptedToProto(job));
    });
    failpoint("job.committed");
    deps.wakeup.publish({ topic: "queue", key: "", value: 0 });
    return response;
  } catch (error) {
    throw await refuse(deps, submitted, error).catch(unprotected);
  }
}

/** The known part of a submission that may be refused. */
interface Submitted {
  readonly client: string;
  readonly body: Uint8Array;
  document?: ReadDocument;
}

/** Records a refused spec. Returns the Fault of its caller. */
async function refuse(deps: JobDeps, submitted: Submitted, error: unknown): Promise<unknown> {
  if (!(error instanceof SpecFault)) {
    return unprotected(error);
  }
  await recordRefusal(deps, { ...submitted, fault: error });
  deps.events.jobspecRefused({ client: submitted.client, code: error.code });
  return toFault(error);
}

/** Converts an outage to REPLAY_UNPROTECTED (S3); returns every other error as it is. */
function unprotected(error: unknown): unknown {
  const message = "the nonce cannot be checked while the database is unavailable: try again";
  return isOutage(error)
    ? new Fault(reasons.REPLAY_UNPROTECTED, message, { cause: error, retryAfterMs: 1_000 })
    : error;
}

function repeated({ id }: SubmitJobResponse, values: ContextValues): SubmitJobResponse {
  const notes = restCallNotes(values);
  if (notes !== undefined) {
    notes.successStatus = 200;
  }
  return create(SubmitJobResponseSchema, { id, idempotent: true });
}

function acceptedToProto({ id, spec, clientJobId, isWrapped, plan, acceptedMs }: AcceptedJob): SubmitJobResponse {
  if (!isWrapped) {
    return create(SubmitJobResponseSchema, { id, status: "enqueued" });
  }
  return create(SubmitJobResponseSchema, {
    id,
    status: "queued",
    jobId: id,
    crossRegionExecutionId: id,
    jobspecId: spec.jobspecId ?? clientJobId,
    totalRegions: plan.regions.length,
    minRegions: plan.minRegions,
    submittedAt: timestampFromMs(acceptedMs),
    estimatedDuration: `${spec.constraints.timeoutMs / 1_000}s`,
  });
}
