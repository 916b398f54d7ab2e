// Converts a job to the contract's message: what was accepted, and the sum of its runs.
//
// P1  A job's state is computed from its runs alone, so it cannot contradict them.
// P2  A region counts as successful when its run completed.
// P3  A job whose runs are being erased gives not found.

import { create } from "@bufbuild/protobuf";
import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type Job,
  Job_State,
  type JobExecution,
  JobExecution_State,
  JobExecutionSchema,
  JobSchema,
} from "#gen/runnel/job/v1/job_pb.js";
import type { RunFailed, RunResult } from "#gen/runnel/v1/result_pb.js";
import { decodeResult } from "../../../engine/log/result.ts";
import type { RunStatus } from "../../../engine/storage/schema.ts";
import type { JobRow, JobRunRow } from "../storage/job.ts";
import { earlyFailureCode } from "./task.ts";

/** Converts a job. Returns undefined while its runs are being erased: the rest of them would give a wrong state. */
export function jobToProto(job: JobRow, runs: readonly JobRunRow[]): Job | undefined {
  if (runs.length < job.total_regions) {
    return undefined;
  }
  const isEnded = runs.every(({ end_time: endTime }) => endTime !== null);
  const endTime = isEnded ? latest(runs) : undefined;
  const cancelRequestTime = runs[0]?.cancel_request_time ?? null;
  return create(JobSchema, {
    id: job.id,
    status: stateOf(job, runs),
    clientJobId: job.client_job_id,
    jobspecId: job.jobspec_id,
    version: job.version,
    benchmark: job.benchmark,
    signatureVersion: job.signature_version,
    publicKey: Buffer.from(job.public_key).toString("base64"),
    keyId: job.key_id,
    canonicalSha256: Buffer.from(job.canonical_sha256).toString("hex"),
    canonicalLen: BigInt(job.canonical_len),
    minRegions: job.min_regions,
    minSuccessRate: job.min_success_rate,
    totalRegions: runs.length,
    successfulRegions: countOf(runs, "completed"),
    failedRegions: countOf(runs, "failed") + countOf(runs, "cancelled"),
    executions: runs.map(executionToProto),
    createTime: timestampFromDate(job.create_time),
    ...(endTime !== undefined && { endTime: timestampFromDate(endTime) }),
    ...(cancelRequestTime !== null && { cancelRequestTime: timestampFromDate(cancelRequestTime) }),
  });
}

/** Converts a job of a list. It leaves out the outputs of the runs, which may be more than a message holds. */
export function listedJobToProto(job: JobRow, runs: readonly JobRunRow[]): Job | undefined {
  const whole = jobToProto(job, runs);
  for (const execution of whole?.executions ?? []) {
    execution.output = undefined;
  }
  return whole;
}

/** Returns true for a completed, failed or cancelled job: it will not change any more. */
export function isOver({ status }: Job): boolean {
  return status === Job_State.COMPLETED || status === Job_State.FAILED || status === Job_State.CANCELLED;
}

function stateOf(job: JobRow, runs: readonly JobRunRow[]): Job_State {
  if (runs.some(({ end_time: endTime }) => endTime === null)) {
    return runs.every(({ start_time: startTime }) => startTime === null) ? Job_State.QUEUED : Job_State.RUNNING;
  }
  if (countOf(runs, "completed") >= job.successes_min) {
    return Job_State.COMPLETED;
  }
  return runs.every(({ cancel_request_time: wish }) => wish === null) ? Job_State.FAILED : Job_State.CANCELLED;
}

function countOf(runs: readonly JobRunRow[], status: RunStatus): number {
  return runs.filter((run) => run.status === status).length;
}

function latest(runs: readonly JobRunRow[]): Date | undefined {
  return runs
    .flatMap(({ end_time: endTime }) => endTime ?? [])
    .toSorted((a, b) => a.getTime() - b.getTime())
    .at(-1);
}

const states: Record<RunStatus, JobExecution_State> = {
  pending: JobExecution_State.QUEUED,
  queued: JobExecution_State.QUEUED,
  running: JobExecution_State.RUNNING,
  waiting: JobExecution_State.WAITING,
  completed: JobExecution_State.COMPLETED,
  failed: JobExecution_State.FAILED,
  cancelled: JobExecution_State.CANCELLED,
};

function executionToProto(run: JobRunRow): JobExecution {
  const { region, run_id: runId, start_time: startTime, end_time: endTime } = run;
  return create(JobExecutionSchema, {
    region,
    runId,
    status: states[run.status],
    ...(run.terminal !== null && endToProto(decodeResult(run.terminal), region)),
    ...(startTime !== null && { startTime: timestampFromDate(startTime) }),
    ...(endTime !== null && { endTime: timestampFromDate(endTime) }),
  });
}

function endToProto(result: RunResult, region: string): Partial<Pick<JobExecution, "output" | "errorCode" | "error">> {
  const { payload } = result;
  if (payload.case === "runFailed") {
    const { code, error } = payload.value;
    return { output: JSON.stringify(failureOutput(payload.value, result, region)), errorCode: code, error };
  }
  const content = payload.case === "runCompleted" ? payload.value.message?.content : undefined;
  return content?.case === "text" && content.value !== "" ? { output: content.value } : {};
}

/** Prints a failed execution as the signing contract's own service does. */
function failureOutput({ code, error, retryable }: RunFailed, { createTime }: RunResult, region: string): object {
  const isEarly = code === earlyFailureCode;
  return {
    error,
    error_code: code,
    failure: {
      stage: isEarly ? "job_initialization" : "execution",
      component: "runner",
      subcomponent: "execution_service",
      code,
      type: isEarly ? "internal" : code,
      region: isEarly ? "unknown" : region,
      message: error,
      transient: retryable,
      timestamp: createTime === undefined ? undefined : timestampDate(createTime).toISOString(),
    },
  };
}
