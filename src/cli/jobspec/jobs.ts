// `runnel jobs`: submits, shows, follows and cancels signed jobs over the public API. It submits the bytes of a file.

import type { Command } from "commander";
import { type Job, JobSchema } from "#gen/runnel/job/v1/job_pb.js";
import { JobService, SubmitJobResponseSchema } from "#gen/runnel/job/v1/job_service_pb.js";
import { type Answer, addLimitFlag, answerOne, type ListFlags, listAll } from "../answer.ts";
import { answerJson } from "../answer-json.ts";
import { withService } from "../connect.ts";
import { example } from "../example.ts";
import { readInput, specBytesMax } from "../input.ts";
import { outputOf, printsIds } from "../output.ts";
import { addServiceFlags, type ServiceFlags } from "../target.ts";
import { jobColumns, jobRow, showJob, showJobState } from "./show-job.ts";
import { watchJob } from "./watch-job.ts";

interface SubmitFlags extends ServiceFlags {
  readonly idempotencyKey: string;
  readonly watch?: true;
}

/** Defines `jobs`. */
export function defineJobs(jobs: Command): void {
  addSubmit(jobs);
  addGet(jobs);
  addList(jobs);
  addWatch(jobs);
  addCancel(jobs);
}

function addSubmit(jobs: Command): void {
  addServiceFlags(jobs.command("submit <file>"))
    .description(
      "submit a signed JobSpec, as `runnel sign` prints it, from a file or - for standard input; prints the job's id",
    )
    .addHelpText("after", example("runnel jobs submit signed.json --watch"))
    .option("--idempotency-key <key>", "makes the call repeatable: the same key returns the first answer", "")
    .option("--watch", "follow the job to its end, as `runnel jobs watch` does")
    .action(async (path: string, { idempotencyKey, watch, ...flags }: SubmitFlags, command: Command) => {
      const data = await readInput(path, specBytesMax);
      await withService(flags, async (service) => {
        const document = { contentType: "application/json", data };
        const response = await service.client(JobService).submitJob({ document, requestId: idempotencyKey });
        const { id, idempotent } = response;
        const output = outputOf(command);
        const text = idempotent ? `job ${id}, of an earlier call with this key` : `job ${id}`;
        if (watch === true) {
          output.note(text, { note: "submitted", job_id: id, idempotent });
          await watchJob(service.client(JobService), id, output);
          return;
        }
        output.note(text);
        await output.answer(answerJson(SubmitJobResponseSchema, response), () => id);
      });
    });
}

function addGet(jobs: Command): void {
  printsIds(addServiceFlags(jobs.command("get <id>")))
    .description("show a job and its regions")
    .addHelpText("after", example("runnel jobs get 0198c5f2-7a3b-7c41-9d52-6e8f0a1b2c3d"))
    .action((id: string, flags: ServiceFlags, command: Command) =>
      withService(flags, async (service) => {
        const { job } = await service.client(JobService).getJob({ id });
        await answerOne(command, jobAnswer(job, showJob));
      }),
    );
}

function addList(jobs: Command): void {
  addLimitFlag(addServiceFlags(jobs.command("list")))
    .description("list your jobs, newest first")
    .addHelpText("after", example("runnel jobs list --limit 20"))
    .action((flags: ListFlags, command: Command) =>
      listAll(command, flags, {
        name: "jobs",
        schema: JobSchema,
        id: ({ id }) => id,
        read: async ({ client }, request) => {
          const page = await client(JobService).listJobs(request);
          return { items: page.jobs, nextPageToken: page.nextPageToken };
        },
        columns: jobColumns,
        row: jobRow,
      }),
    );
}

function addWatch(jobs: Command): void {
  addServiceFlags(jobs.command("watch <id>"))
    .description("follow a job to its end: a line each time the state of a region changes")
    .addHelpText("after", example("runnel jobs watch 0198c5f2-7a3b-7c41-9d52-6e8f0a1b2c3d"))
    .action((id: string, flags: ServiceFlags, command: Command) =>
      withService(flags, async (service) => {
        // This call has no retries: a service that is missing from the start is an error at once.
        await service.client(JobService).getJob({ id });
        await watchJob(service.client(JobService), id, outputOf(command));
      }),
    );
}

function addCancel(jobs: Command): void {
  printsIds(addServiceFlags(jobs.command("cancel <id>")))
    .description("request that all runs of a job end; returns at once")
    .addHelpText("after", example("runnel jobs cancel 0198c5f2-7a3b-7c41-9d52-6e8f0a1b2c3d"))
    .action((id: string, flags: ServiceFlags, command: Command) =>
      withService(flags, async (service) => {
        const { job } = await service.client(JobService).cancelJob({ id });
        await answerOne(command, jobAnswer(job, showJobState));
      }),
    );
}

function jobAnswer(message: Job | undefined, show: typeof showJob): Answer<typeof JobSchema> {
  return { schema: JobSchema, message, id: ({ id }) => id, show };
}
