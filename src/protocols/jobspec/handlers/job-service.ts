// The handlers of JobService: submitting, reading, watching and cancelling signed jobs.

import { create } from "@bufbuild/protobuf";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import type { Job } from "#gen/runnel/job/v1/job_pb.js";
import { type JobService, type WatchJobResponse, WatchJobResponseSchema } from "#gen/runnel/job/v1/job_service_pb.js";
import { live } from "../../../api/live.ts";
import { nextPageToken, pageSize } from "../../../api/page.ts";
import { requireClient } from "../../../platform/auth/caller.ts";
import { Fault } from "../../../platform/base/fault.ts";
import type { Db } from "../../../platform/database/database.ts";
import { cancelJob } from "../jobs/cancel.ts";
import { jobToProto, listedJobToProto } from "../jobs/to-proto.ts";
import { watchJob } from "../jobs/watch.ts";
import { reasons } from "../reasons.ts";
import { findClientJob, findJobDocument, listClientJobs, listJobRuns } from "../storage/job.ts";
import type { JobDeps } from "./deps.ts";
import { submitJob } from "./submit-job.ts";

/** Creates the handlers of JobService. */
export function createJobService(deps: JobDeps): ServiceImpl<typeof JobService> {
  const { db, cursors } = deps;
  return {
    submitJob: (request, { values }) => submitJob(deps, request, values),
    getJob: async ({ id }, { values }) => ({ job: await requireWholeJob(db, requireClient(values).client, id) }),
    listJobs: async (request, { values }) => {
      const { client } = requireClient(values);
      const scope = ["jobs", client];
      const limit = pageSize(request.pageSize);
      const rows = await listClientJobs(db, { client, before: cursors.decode(scope, request.pageToken), limit });
      const runs = Map.groupBy(
        await listJobRuns(
          db,
          rows.map(({ id }) => id),
        ),
        ({ job }) => job,
      );
      return {
        jobs: rows.flatMap((row) => listedJobToProto(row, runs.get(row.id) ?? []) ?? []),
        nextPageToken: nextPageToken(rows, limit, ({ id }) => cursors.encode(scope, id)),
      };
    },
    watchJob: ({ id }, context) => watch(deps, id, context),
    cancelJob: async ({ id }, { values }) => {
      const { client } = requireClient(values);
      await requireJob(db, client, id);
      await cancelJob(deps, id);
      return { job: await requireWholeJob(db, client, id) };
    },
  };
}

async function requireJob(db: Db, client: string, id: string): Promise<Job> {
  const job = await readJob(db, client, id);
  if (job === undefined) {
    throw new Fault(reasons.JOB_NOT_FOUND, "job not found");
  }
  return job;
}

/** The outputs of all regions are in the same message: together they must stay below the 4 MiB that gRPC clients accept. */
const documentBytesMax = 524_288;

/** Returns a job with its document. */
async function requireWholeJob(db: Db, client: string, id: string): Promise<Job> {
  const job = await requireJob(db, client, id);
  const document = (await findJobDocument(db, id))?.document;
  if (document !== undefined && document.length <= documentBytesMax) {
    job.document = Buffer.from(document).toString();
  }
  return job;
}

async function readJob(db: Db, client: string, id: string): Promise<Job | undefined> {
  const row = await findClientJob(db, { client, id });
  return row && jobToProto(row, await listJobRuns(db, [id]));
}

async function* watch(
  deps: JobDeps,
  id: string,
  { values, signal }: Pick<HandlerContext, "values" | "signal">,
): AsyncGenerator<WatchJobResponse> {
  const { client } = requireClient(values);
  const { db, clock, drain } = deps;
  await requireJob(db, client, id);
  yield* live<WatchJobResponse>({
    open: (followed) => responses(watchJob(deps, () => readJob(db, client, id), followed)),
    empty: () => create(WatchJobResponseSchema),
    clock,
    reader: signal,
    drain,
  });
}

async function* responses(jobs: AsyncGenerator<Job>): AsyncGenerator<WatchJobResponse> {
  for await (const job of jobs) {
    yield create(WatchJobResponseSchema, { event: { case: "job", value: job } });
  }
}
