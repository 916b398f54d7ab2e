// Follows a job to its end. People see a line whenever the state of a region changes, programs the whole job.

import { equals } from "@bufbuild/protobuf";
import type { Client } from "@connectrpc/connect";
import { type Job, Job_State, JobSchema } from "#gen/runnel/job/v1/job_pb.js";
import type { JobService } from "#gen/runnel/job/v1/job_service_pb.js";
import { answerJson } from "../answer-json.ts";
import { exitCodes } from "../exit-codes.ts";
import { follow, patienceMs } from "../follow.ts";
import { leaveOnInterrupt } from "../interrupt.ts";
import type { Output, Paint } from "../output.ts";
import { showExecution, showJobState } from "./show-job.ts";

/** Follows a job to its end, which decides the exit code. */
export async function watchJob(jobs: Client<typeof JobService>, jobId: string, output: Output): Promise<void> {
  leaveOnInterrupt(() =>
    output.note(`\ninterrupted; the job goes on: runnel jobs watch ${jobId}`, { note: "interrupted", job_id: jobId }),
  );
  let shown: Job | undefined;
  for await (const job of followJob(jobs, jobId, output)) {
    const before = shown;
    // A stream that was opened again begins with the known state.
    if (before === undefined || !equals(JobSchema, before, job)) {
      await output.stream(
        () => answerJson(JobSchema, job),
        (paint) => showChange(before, job, paint),
      );
      shown = job;
    }
  }
  if (shown?.status !== Job_State.COMPLETED) {
    process.exitCode = exitCodes.followedFailed;
  }
}

async function* followJob(jobs: Client<typeof JobService>, jobId: string, output: Output): AsyncGenerator<Job> {
  yield* follow<Job>({
    open: async function* () {
      for await (const { event } of jobs.watchJob({ id: jobId })) {
        yield event.case === "job" ? [event.value] : [];
      }
    },
    patienceMs,
    onReconnect: (_last, why) => output.note(`(${why}: going on)`, { note: "reconnecting", job_id: jobId, why }),
  });
}

function showChange(before: Job | undefined, job: Job, paint: Paint): string {
  const known = new Map(before?.executions.map((each) => [each.runId, each]));
  const changed = job.executions.filter(({ runId, status }) => known.get(runId)?.status !== status);
  const lines = changed.map((each) => showExecution(each, paint));
  const hasEnded = job.endTime !== undefined;
  return [...lines, ...(hasEnded ? [showJobState(job, paint)] : [])].map((line) => `${line}\n`).join("");
}
