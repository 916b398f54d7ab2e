// Verifies a submission, and accepts it as a job: the parts of SubmitJob. ("Portal ↔ Runner Signing Contract"; the checks continue
// in the order of `verification/gate.ts`.)

import { createHash } from "node:crypto";
import { create, toBinary } from "@bufbuild/protobuf";
import { AgentSchema } from "#gen/runnel/v1/session_pb.js";
import type { Wakeup } from "../../../engine/log/wakeup.ts";
import { admit, type RunLimits } from "../../../engine/runs/admission.ts";
import { queueHiddenRuns } from "../../../engine/storage/run-start.ts";
import type { Clock } from "../../../platform/base/clock.ts";
import { failpoint } from "../../../platform/base/failpoint.ts";
import { newUuid } from "../../../platform/base/ids.ts";
import type { Db, Transaction } from "../../../platform/database/database.ts";
import type { Events } from "../../../platform/telemetry/events.ts";
import { insertJob } from "../storage/job.ts";
import { useJobNonce } from "../storage/job-nonce.ts";
import { type GatePolicy, inspect, type Verified } from "../verification/gate.ts";
import { type JobSpec, readClientJobId, readJobSpec } from "../verification/job-spec.ts";
import type { ReadDocument } from "../verification/json.ts";
import { type JobPlan, planJob } from "../verification/plan.ts";
import type { JobRequest } from "../verification/request.ts";
import { SpecFault } from "../verification/spec-fault.ts";
import { jobRunInput } from "./task.ts";
import { assertInScope, lookForSpec, type Trust, type TrustAnswer } from "./trust.ts";

/** Dependencies of a submission. */
export interface SubmitDeps extends RunLimits {
  readonly db: Db;
  readonly clock: Clock;
  readonly wakeup: Wakeup;
  readonly events: Pick<Events, "jobspecRefused" | "emptyTextsDropped">;
  readonly trust: Trust;
  readonly jobs: JobSettings;
}

/** Settings that are the same for all jobs of the service. */
export interface JobSettings {
  readonly policy: Pick<GatePolicy, "audience" | "enforcesTrust" | "acceptDroppedEmptyStrings">;
  /** The regions that specs may name. */
  readonly regions: readonly string[];
  /** The driver of their runs. */
  readonly driver: string;
}

/** A verified submission. */
export interface Submission extends JobRequest {
  readonly client: string;
  readonly traceParent: string | undefined;
  readonly verified: Checked;
}

/** A job that was accepted. */
export interface AcceptedJob {
  readonly id: string;
  readonly spec: JobSpec;
  readonly clientJobId: string;
  /** Whether the spec came in a wrapper. */
  readonly isWrapped: boolean;
  readonly plan: JobPlan;
  readonly acceptedMs: number;
}

/** A spec whose signature and times were valid. */
export interface Checked extends Verified {
  readonly answer: TrustAnswer;
  /** The moment at which the spec's times were valid, for later checks. */
  readonly checkedMs: number;
}

/** Verifies a spec. Throws SpecFault when it is refused. */
export async function verifySpec(
  { clock, trust, jobs, events }: SubmitDeps,
  document: ReadDocument,
  client: string,
): Promise<Checked> {
  const answer = await lookForSpec(trust, document, { client });
  const { policy } = jobs;
  // Whole milliseconds, as the database stores it.
  const checkedMs = Math.floor(clock.nowMs());
  const inspection = inspect(document, {
    ...policy,
    nowMs: checkedMs,
    requiresMetadata: policy.enforcesTrust,
    judge: () => answer,
  });
  if (inspection.fault !== undefined) {
    throw inspection.fault;
  }
  if (inspection.droppedEmptyStrings) {
    events.emptyTextsDropped({ client, kid: inspection.kid });
  }
  return { ...inspection, answer, checkedMs };
}

/** Uses up the nonce of a spec. Throws SpecFault when it was used before. */
export async function takeNonce(trx: Transaction, { publicKey, nonce }: Verified): Promise<void> {
  if (nonce !== undefined && !(await useJobNonce(trx, { publicKey, nonce }))) {
    const fix = "sign the spec again with a new nonce, or retry with the same Idempotency-Key";
    throw new SpecFault("replay_detected", `this spec was submitted before: ${fix}`);
  }
}

/** Writes a job and queues its runs. Throws SpecFault when the spec is refused, and the Faults of `admit`. */
export async function acceptJob(trx: Transaction, deps: SubmitDeps, submission: Submission): Promise<AcceptedJob> {
  const { clock, jobs } = deps;
  const { client, traceParent, document, wishes, verified } = submission;
  const spec = readJobSpec(verified.signable, jobs.regions);
  const clientJobId = readClientJobId(document.object) ?? "";
  const plan = planJob(spec, wishes);
  if (jobs.policy.enforcesTrust) {
    assertInScope(verified.answer, { regions: plan.regions, runner: jobs.driver });
  }
  await admit(trx, deps, client, plan.regions.length);
  const nowMs = clock.nowMs();
  const id = newUuid(nowMs);
  const job = { id, spec, clientJobId, isWrapped: wishes !== undefined, plan, acceptedMs: verified.checkedMs };
  await insertJob(trx, jobRow(job, submission));
  // The ids of the runs are in the order of the regions.
  const runs = plan.regions.map((region) => ({
    id: newUuid(nowMs),
    session: newUuid(nowMs),
    region,
    client,
    driver: jobs.driver,
    sessionAgent: toBinary(AgentSchema, create(AgentSchema, { name: spec.benchmark.name })),
    agentName: spec.benchmark.name,
    input: jobRunInput({ jobId: id, region }),
    timeoutMs: spec.constraints.timeoutMs,
    traceParent,
  }));
  await queueHiddenRuns(trx, runs, { job: ["uuid", () => id], region: ["text", ({ region }) => region] });
  failpoint("job.written");
  return job;
}

function jobRow({ id, spec, clientJobId, plan, acceptedMs }: AcceptedJob, submission: Submission) {
  const { client, document, verified } = submission;
  const { canonical, version, publicKey, kid, answer } = verified;
  return {
    id,
    client,
    document: Buffer.from(document.text),
    client_job_id: clientJobId,
    jobspec_id: spec.jobspecId ?? "",
    version: spec.version,
    benchmark: spec.benchmark.name,
    signature_version: version,
    public_key: Buffer.from(publicKey),
    key_id: answer.kid ?? kid,
    canonical_sha256: createHash("sha256").update(canonical).digest(),
    canonical_len: Buffer.byteLength(canonical),
    total_regions: plan.regions.length,
    min_regions: plan.minRegions,
    min_success_rate: plan.minSuccessRate,
    successes_min: plan.successesMin,
    create_time: new Date(acceptedMs),
  };
}
