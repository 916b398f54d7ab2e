// Jobs, and the runs of their regions. A job's state is not stored: it is computed from its runs, so it
// cannot differ from them.

import { type Insertable, type Selectable, sql } from "kysely";
import type { RunStatus } from "../../../engine/storage/schema.ts";
import { uuidArray } from "../../../platform/database/binary-array.ts";
import type { Db, Transaction } from "../../../platform/database/database.ts";
import type { JobTable } from "./schema.ts";

/** The part of a job that never changes. It leaves out the document, which may be large. */
export type JobRow = Omit<Selectable<JobTable>, "document" | "cancel_request_time">;

const jobColumns = [
  "id",
  "client",
  "client_job_id",
  "jobspec_id",
  "version",
  "benchmark",
  "signature_version",
  "public_key",
  "key_id",
  "canonical_sha256",
  "canonical_len",
  "total_regions",
  "min_regions",
  "min_success_rate",
  "successes_min",
  "create_time",
] as const;

/** Inserts a job. */
export async function insertJob(trx: Transaction, job: Insertable<JobTable>): Promise<void> {
  await trx.insertInto("job").values(job).execute();
}

/** Returns a job of the client, or undefined. */
export async function findClientJob(
  db: Db | Transaction,
  { client, id }: { client: string; id: string },
): Promise<JobRow | undefined> {
  return await db
    .selectFrom("job")
    .select(jobColumns)
    .where("client", "=", client)
    .where("id", "=", id)
    .executeTakeFirst();
}

/** Returns jobs of the client, the newest first. */
export async function listClientJobs(
  db: Db,
  args: { client: string; before: string | undefined; limit: number },
): Promise<JobRow[]> {
  let query = db
    .selectFrom("job")
    .select(jobColumns)
    .where("client", "=", args.client)
    .orderBy("id", "desc")
    .limit(args.limit);
  if (args.before !== undefined) {
    query = query.where("id", "<", args.before);
  }
  return await query.execute();
}

/** Returns the received bytes of a job, and the hash of their verified part. */
export async function findJobDocument(
  db: Db,
  id: string,
): Promise<Pick<Selectable<JobTable>, "document" | "client" | "canonical_sha256" | "create_time"> | undefined> {
  return await db
    .selectFrom("job")
    .select(["document", "client", "canonical_sha256", "create_time"])
    .where("id", "=", id)
    .executeTakeFirst();
}

/** A run of a job. */
export interface JobRunRow {
  readonly job: string;
  readonly region: string;
  readonly run_id: string;
  readonly status: RunStatus;
  readonly terminal: Uint8Array | null;
  readonly start_time: Date | null;
  readonly end_time: Date | null;
  /** Of the whole job. It is read with the runs, so no reader sees cancelled runs without the request. */
  readonly cancel_request_time: Date | null;
}

/** Returns the runs of jobs. Those of one job are in the order of its regions. */
export async function listJobRuns(db: Db | Transaction, jobs: readonly string[]): Promise<JobRunRow[]> {
  const { rows } = await sql<JobRunRow>`
    select session.job, session.region, run.id as run_id, run.status, run.terminal, run.start_time, run.end_time,
      job.cancel_request_time
    from session join run on run.session = session.id join job on job.id = session.job
    where session.job = any(${uuidArray(jobs)}::uuid[])
    order by session.job, run.id`.execute(db);
  return rows;
}

/** Locks the unfinished runs of a job until the transaction ends. Returns their ids in order. */
export async function lockActiveJobRuns(trx: Transaction, job: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select run.id from session join run on run.session = session.id
    where session.job = ${job} and run.end_time is null
    order by run.id for update of run`.execute(trx);
  return rows.map(({ id }) => id);
}

/** Returns the job and region of a run, or undefined when the run belongs to no job. */
export async function findJobOfRun(
  db: Db,
  runId: string,
): Promise<{ id: string; region: string; canonical_sha256: Uint8Array } | undefined> {
  const { rows } = await sql<{ id: string; region: string; canonical_sha256: Uint8Array }>`
    select job.id, session.region, job.canonical_sha256
    from run join session on session.id = run.session join job on job.id = session.job
    where run.id = ${runId}`.execute(db);
  return rows[0];
}

/** Records the request once; later requests keep the first time. */
export async function requestJobCancel(trx: Transaction, id: string): Promise<void> {
  await trx
    .updateTable("job")
    .set({ cancel_request_time: sql<Date>`now()` })
    .where("id", "=", id)
    .where("cancel_request_time", "is", null)
    .execute();
}

/**
 * Deletes jobs without sessions. A new job is without sessions for the length of a transaction at most. Returns the number of
 * deleted jobs.
 */
export async function deleteBareJobs(db: Db, args: { createdBefore: string; limit: number }): Promise<number> {
  const { rows } = await sql`
    delete from job where id in (
      select id from job where id < ${args.createdBefore}
        and not exists (select from session where session.job = job.id)
      order by id limit ${sql.lit(args.limit)})
    returning id`.execute(db);
  return rows.length;
}
