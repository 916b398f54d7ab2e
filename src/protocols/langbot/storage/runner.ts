// Runners that are known, by their ids. One belongs to the worker id that registered it, until it is deleted.

import { type RawBuilder, type Selectable, sql } from "kysely";
import { byteaArray, textArray } from "../../../platform/database/binary-array.ts";
import { type Db, isStorableText, type Transaction } from "../../../platform/database/database.ts";
import { readPageKeys } from "../../../platform/database/page-keys.ts";
import type { RunnerTable } from "./schema.ts";

/** Without the credential, which nobody is shown. */
export interface RunnerRow extends Omit<Selectable<RunnerTable>, "credential"> {
  /** A worker of its was seen lately, or it is dialled. */
  readonly is_available: boolean;
}

export interface NewRunner {
  readonly runnerId: string;
  readonly manifest: Uint8Array;
}

/** Where a runner is dialled, and with what. */
export interface RunnerAddress {
  readonly url: string;
  readonly credential: string | null;
}

export interface NewRunners {
  readonly client: string;
  readonly workerId: string;
  readonly era: string;
  readonly runners: readonly NewRunner[];
  /** Undefined for those that dial in. */
  readonly address: RunnerAddress | undefined;
}

/**
 * Registers runners, each once, and gives the ids of those that are now this worker's: the others are another one's. Of two
 * workers that come with one id at the same time the second waits for the first and then finds it taken.
 */
export async function registerRunners(
  trx: Transaction,
  { client, workerId, era, runners, address }: NewRunners,
): Promise<string[]> {
  // In order of the ids, so that two batches never wait for each other.
  const { rows } = await sql<{ runner_id: string }>`
    insert into runner (client, runner_id, worker_id, era, manifest, url, credential)
    select ${client}, runner_id, ${workerId}, ${era}, manifest, ${address?.url ?? null}::text,
      ${address?.credential ?? null}::text
    from unnest(${textArray(runners.map(({ runnerId }) => runnerId))}::text[],
      ${byteaArray(runners.map(({ manifest }) => manifest))}::bytea[]) as given (runner_id, manifest)
    order by runner_id collate "C"
    on conflict (client, runner_id) do update
      set era = excluded.era, manifest = excluded.manifest, url = excluded.url, credential = excluded.credential,
        update_time = now()
      where runner.worker_id = excluded.worker_id
    returning runner_id`.execute(trx);
  return rows.map(({ runner_id }) => runner_id);
}

/** `seenWithinMs`: so lately a worker has to have been seen. */
export async function findRunner(
  db: Db | Transaction,
  { client, runnerId, seenWithinMs }: { client: string; runnerId: string; seenWithinMs: number },
): Promise<RunnerRow | undefined> {
  if (!isStorableText(runnerId)) {
    return undefined;
  }
  return await runnersOf(db, client, seenWithinMs).where("runner_id", "=", runnerId).executeTakeFirst();
}

/** Undefined for one that dials in. */
export async function findRunnerAddress(
  db: Db,
  { client, runnerId }: { client: string; runnerId: string },
): Promise<RunnerAddress | undefined> {
  const row = await db
    .selectFrom("runner")
    .select(["url", "credential"])
    .where("client", "=", client)
    .where("runner_id", "=", runnerId)
    .executeTakeFirst();
  return row === undefined || row.url === null ? undefined : { url: row.url, credential: row.credential };
}

/** By id; manifests may be large, so a page may be a short one. */
export async function listRunners(
  db: Db,
  args: { client: string; after: string | undefined; limit: number; seenWithinMs: number },
): Promise<{ rows: RunnerRow[]; hasMore: boolean }> {
  const { keys, hasMore } = await readPageKeys(db, { table: "runner", key: "runner_id", body: "manifest" }, args);
  const rows = await runnersOf(db, args.client, args.seenWithinMs)
    .where(({ eb }) => eb("runner_id", "=", sql<string>`any(${textArray(keys)}::text[])`))
    .orderBy("runner_id")
    .execute();
  return { rows, hasMore };
}

/** The ids of the runners that a worker has registered. */
export async function listRunnerIdsOfWorker(
  db: Db | Transaction,
  { client, workerId }: { client: string; workerId: string },
): Promise<string[]> {
  const rows = await db
    .selectFrom("runner")
    .select("runner_id")
    .where("client", "=", client)
    .where("worker_id", "=", workerId)
    .orderBy("runner_id")
    .execute();
  return rows.map(({ runner_id }) => runner_id);
}

/** False when there is none. */
export async function deleteRunner(db: Db, args: { client: string; runnerId: string }): Promise<boolean> {
  if (!isStorableText(args.runnerId)) {
    return false;
  }
  const { numDeletedRows } = await db
    .deleteFrom("runner")
    .where("client", "=", args.client)
    .where("runner_id", "=", args.runnerId)
    .executeTakeFirst();
  return numDeletedRows === 1n;
}

function runnersOf(db: Db | Transaction, client: string, seenWithinMs: number) {
  return db
    .selectFrom("runner")
    .select(["client", "runner_id", "worker_id", "era", "manifest", "url", "create_time", "update_time"])
    .select(isAvailable(seenWithinMs).as("is_available"))
    .where("client", "=", client);
}

function isAvailable(seenWithinMs: number): RawBuilder<boolean> {
  return sql`(runner.url is not null or exists (
    select from worker_session where worker_session.client = runner.client
      and worker_session.seen_time > now() - ${seenWithinMs}::float8 * interval '1 millisecond'
      and worker_session.worker_id = runner.worker_id and runner.runner_id = any(worker_session.runner_ids)))`;
}
