// Jobs, and the session and run that each of their regions has. A job's state is not kept anywhere: it is what its runs add up
// to, so that it cannot differ from them.

import { type Insertable, type Selectable, sql } from "kysely";
import type { RunStatus } from "../../../engine/storage/schema.ts";
import { byteaArray, textArray, uuidArray } from "../../../platform/database/binary-array.ts";
import type { Db, Transaction } from "../../../platform/database/database.ts";
import type { JobTable } from "./schema.ts";

/** What never changes of a job. Without the document, which is as large as its signer likes. */
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

/** The run of a region. */
export interface NewJobRun {
  readonly sessionId: string;
  readonly runId: string;
  readonly region: string;
  readonly input: Uint8Array;
}

/** What is the same in all runs of a job. */
export interface NewJobRuns {
  readonly driver: string;
  /** An agent without anything of its own. */
  readonly agent: Uint8Array;
  readonly timeoutMs: number;
  readonly traceParent: string | undefined;
  readonly runs: readonly NewJobRun[];
}

export async function insertJob(trx: Transaction, job: Insertable<JobTable>): Promise<void> {
  await trx.insertInto("job").values(job).execute();
}

/** Queues the runs, each in a session of its own. */
export async function insertJobRuns(
  trx: Transaction,
  { id, client }: { id: string; client: string },
  { driver, agent, timeoutMs, traceParent, runs }: NewJobRuns,
): Promise<void> {
  await sql`
    with region as (
      select * from unnest(
        ${uuidArray(runs.map(({ sessionId }) => sessionId))}::uuid[],
        ${uuidArray(runs.map(({ runId }) => runId))}::uuid[],
        ${textArray(runs.map(({ region }) => region))}::text[],
        ${byteaArray(runs.map(({ input }) => input))}::bytea[]) as region (session_id, run_id, name, input)
    ), opened as (
      insert into session (id, client, name, agent, latest_run_id, hidden, job, region)
      select session_id, ${client}, session_id::text, ${Buffer.from(agent)}::bytea, run_id, true, ${id}::uuid, name
      from region
    )
    insert into run (id, client, session, driver, input, trace_parent, deadline, status, epoch, wake_at)
    select run_id, ${client}, session_id, ${driver}, input, ${traceParent ?? null}::text,
      now() + ${timeoutMs}::float8 * interval '1 millisecond', 'queued', 0, now()
    from region`.execute(trx);
}

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

/** Newest first. */
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

/** What a job's run goes on with: the bytes that were received, and the hash of what was verified in them. */
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

export interface JobRunRow {
  readonly job: string;
  readonly region: string;
  readonly run_id: string;
  readonly status: RunStatus;
  readonly terminal: Uint8Array | null;
  readonly start_time: Date | null;
  readonly end_time: Date | null;
  /** Of the whole job. It is read with the runs, so that no cancelled ones are seen without the wish. */
  readonly cancel_request_time: Date | null;
}

/** The runs of jobs, each job's in the order in which its regions were named. */
export async function listJobRuns(db: Db | Transaction, jobs: readonly string[]): Promise<JobRunRow[]> {
  const { rows } = await sql<JobRunRow>`
    select session.job, session.region, run.id as run_id, run.status, run.terminal, run.start_time, run.end_time,
      job.cancel_request_time
    from session join run on run.session = session.id join job on job.id = session.job
    where session.job = any(${uuidArray(jobs)}::uuid[])
    order by session.job, run.id`.execute(db);
  return rows;
}

/** Those runs of a job that have not ended, and cannot before the transaction does; in the order of their ids. */
export async function lockActiveJobRuns(trx: Transaction, job: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select run.id from session join run on run.session = session.id
    where session.job = ${job} and run.end_time is null
    order by run.id for update of run`.execute(trx);
  return rows.map(({ id }) => id);
}

/** Which job and region a run is of; undefined for one that is of none. */
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

/** Records the wish once; later wishes keep the first time. */
export async function requestJobCancel(trx: Transaction, id: string): Promise<void> {
  await trx
    .updateTable("job")
    .set({ cancel_request_time: sql<Date>`now()` })
    .where("id", "=", id)
    .where("cancel_request_time", "is", null)
    .execute();
}

/** Jobs whose sessions are gone for good. A job is there before its sessions, by a transaction at most. */
export async function deleteBareJobs(db: Db, args: { createdBefore: string; limit: number }): Promise<number> {
  const { rows } = await sql`
    delete from job where id in (
      select id from job where id < ${args.createdBefore}
        and not exists (select from session where session.job = job.id)
      order by id limit ${args.limit})
    returning id`.execute(db);
  return rows.length;
}
