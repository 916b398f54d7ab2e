// What a run of a job has to do: read out of the bytes that were received, after they were verified once more. Between the day
// that a job was accepted and the moment that a run of it begins its key may have been revoked, and its row been written by
// somebody else.

import { createHash } from "node:crypto";
import { create, toBinary } from "@bufbuild/protobuf";
import { type Message, MessageSchema } from "#gen/runnel/v1/message_pb.js";
import { JsonTextError } from "../../../platform/base/json/text.ts";
import type { Db } from "../../../platform/database/database.ts";
import { type GatePolicy, inspect } from "../spec/gate.ts";
import { type JobSpec, readJobSpec } from "../spec/job-spec.ts";
import { readDocument } from "../spec/json.ts";
import { SpecFault } from "../spec/spec-fault.ts";
import { findJobDocument } from "../storage/job.ts";
import { assertInScope, lookForSpec, type Trust } from "./trust.ts";

/** What a run fails with that was not allowed to begin ("Portal ↔ Runner Signing Contract", References). */
export const earlyFailureCode = "RUNNER_EARLY_FAILURE";

export interface JobTask {
  readonly spec: JobSpec;
  readonly region: string;
}

/** Whose run it is, and what it was started with. */
export interface JobRun {
  readonly client: string;
  readonly input: Message;
}

/** The task, or why there is none. */
export type OpenJobTask = (run: JobRun) => Promise<JobTask | NoTask>;

export interface NoTask {
  /** Code of the failure. */
  readonly code: string;
  readonly problem: string;
}

export interface TaskOptions {
  readonly db: Db;
  readonly trust: Trust;
  readonly policy: Pick<GatePolicy, "audience" | "enforcesTrust" | "acceptDroppedEmptyStrings">;
  /** Regions that specs may name. */
  readonly regions: readonly string[];
  /** Those of them in which runs are worked on here. */
  readonly servedRegions: readonly string[];
  /** What works on them here, as scopes of keys name it. */
  readonly runner: string;
}

/** What a run of a job is started with. */
export function jobRunInput({ jobId, region }: { jobId: string; region: string }): Uint8Array {
  const value = JSON.stringify({ job_id: jobId, region });
  return toBinary(MessageSchema, create(MessageSchema, { role: "user", content: { case: "text", value } }));
}

export function createOpenTask(options: TaskOptions): OpenJobTask {
  return async ({ client, input }) => {
    const { jobId, region } = readInput(input);
    const job = await findJobDocument(options.db, jobId);
    if (job === undefined || job.client !== client) {
      return notVerified("the job is not there any more");
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

/** Throws a `SpecFault`, or a `JsonTextError` for what is no document at all. */
async function verifyAgain(
  job: NonNullable<Awaited<ReturnType<typeof findJobDocument>>>,
  region: string,
  { trust, policy, regions, runner }: TaskOptions,
): Promise<JobSpec> {
  const document = readDocument(job.document);
  const answer = await lookForSpec(trust, document, { client: job.client });
  // Its times were looked at when it was accepted, and hold as of then.
  const times = { nowMs: job.create_time.getTime(), requiresMetadata: false };
  const inspection = inspect(document, { ...policy, ...times, judge: () => answer });
  if (inspection.fault !== undefined) {
    throw inspection.fault;
  }
  const hash = createHash("sha256").update(inspection.canonical).digest();
  // Another spec of a trusted key is not what this job's receipts will speak of.
  if (!hash.equals(job.canonical_sha256)) {
    throw new SpecFault("signature_mismatch", "the document is not the one that was accepted");
  }
  if (policy.enforcesTrust) {
    assertInScope(answer, { regions: [region], runner });
  }
  const spec = readJobSpec(inspection.signable, regions);
  if (!spec.constraints.regions.includes(region)) {
    throw new SpecFault("validation_error", `region ${region} is none of the signed constraints.regions`);
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
