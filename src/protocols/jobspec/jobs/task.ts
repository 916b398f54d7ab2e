// The task of a job's run, read from the received bytes after they were verified again. Since the job was accepted, its key may
// have been revoked, or another program may have written its row.

import { createHash } from "node:crypto";
import { create, toBinary } from "@bufbuild/protobuf";
import { type Message, MessageSchema } from "#gen/runnel/v1/message_pb.js";
import { JsonTextError } from "../../../platform/base/json/text.ts";
import type { Db } from "../../../platform/database/database.ts";
import { findJobDocument } from "../storage/job.ts";
import { type GatePolicy, inspect } from "../verification/gate.ts";
import { type JobSpec, readJobSpec } from "../verification/job-spec.ts";
import { readDocument } from "../verification/json.ts";
import { SpecFault } from "../verification/spec-fault.ts";
import { assertInScope, lookForSpec, type Trust } from "./trust.ts";

/** The code of a run that was not allowed to begin ("Portal ↔ Runner Signing Contract", References). */
export const earlyFailureCode = "RUNNER_EARLY_FAILURE";

/** The verified spec, and the region of the run. */
export interface JobTask {
  readonly spec: JobSpec;
  readonly region: string;
}

/** The client and the input of the run. */
export interface JobRun {
  readonly client: string;
  readonly input: Message;
}

/** Returns the task of a run, or why it must not begin. */
export type OpenJobTask = (run: JobRun) => Promise<JobTask | NoTask>;

/** Why a run must not begin. */
export interface NoTask {
  /** The code of the failure. */
  readonly code: string;
  readonly problem: string;
}

/** Dependencies, and the regions and policy of the service. */
export interface TaskOptions {
  readonly db: Db;
  readonly trust: Trust;
  readonly policy: Pick<GatePolicy, "audience" | "enforcesTrust" | "acceptDroppedEmptyStrings">;
  /** The regions that specs may name. */
  readonly regions: readonly string[];
  /** The regions whose runs this service works on. */
  readonly servedRegions: readonly string[];
  /** The name of the driver here, as the scopes of keys name runners. */
  readonly runner: string;
}

/** Makes the input of a job's run: `{"job_id":"…","region":"EU"}`. */
export function jobRunInput({ jobId, region }: { jobId: string; region: string }): Uint8Array {
  const value = JSON.stringify({ job_id: jobId, region });
  return toBinary(MessageSchema, create(MessageSchema, { role: "user", content: { case: "text", value } }));
}

/** Creates the function that verifies a job again and returns its task. */
export function createOpenTask(options: TaskOptions): OpenJobTask {
  return async ({ client, input }) => {
    const { jobId, region } = readInput(input);
    const job = await findJobDocument(options.db, jobId);
    if (job === undefined || job.client !== client) {
      return notVerified("the job no longer exists");
    }
    try {
      const spec = await verifyAgain(job, region, options);
      if (options.servedRegions.includes(region)) {
        return { spec, region };
      }
      const served = options.servedRegions.join(", ");
      const problem = `no runner serves region ${region}: jobs.served_regions has ${served}`;
      return { code: "runner.unavailable", problem };
    } catch (error) {
      if (error instanceof SpecFault || error instanceof JsonTextError) {
        return notVerified(error.message);
      }
      throw error;
    }
  };
}

/** Throws a `SpecFault`, or a `JsonTextError` when the stored document is not valid JSON. */
async function verifyAgain(
  job: NonNullable<Awaited<ReturnType<typeof findJobDocument>>>,
  region: string,
  { trust, policy, regions, runner }: TaskOptions,
): Promise<JobSpec> {
  const document = readDocument(job.document);
  const answer = await lookForSpec(trust, document, { client: job.client });
  // Its times were checked when it was accepted, so they are checked as of that moment.
  const times = { nowMs: job.create_time.getTime(), requiresMetadata: false };
  const inspection = inspect(document, { ...policy, ...times, judge: () => answer });
  if (inspection.fault !== undefined) {
    throw inspection.fault;
  }
  const hash = createHash("sha256").update(inspection.canonical).digest();
  // The receipts of this job name this hash, so another spec of a trusted key must not run in its place.
  if (!hash.equals(job.canonical_sha256)) {
    throw new SpecFault("signature_mismatch", "the stored document differs from the accepted one");
  }
  if (policy.enforcesTrust) {
    assertInScope(answer, { regions: [region], runner });
  }
  const spec = readJobSpec(inspection.signable, regions);
  if (!spec.constraints.regions.includes(region)) {
    throw new SpecFault("validation_error", `region ${region} is not among the signed constraints.regions`);
  }
  return spec;
}

function readInput({ content }: Message): { jobId: string; region: string } {
  const { job_id: jobId, region } = JSON.parse(content.case === "text" ? content.value : "{}");
  return { jobId, region };
}

function notVerified(text: string): NoTask {
  return { code: earlyFailureCode, problem: `jobspec validate: ${text}` };
}
