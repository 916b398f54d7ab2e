// The registered runners, by id. A runner belongs to the worker id that registered it, until it is deleted.

import { type RawBuilder, type Selectable, sql } from "kysely";
import { byteaArray, textArray } from "../../../platform/database/binary-array.ts";
import { type Db, isStorableText, type Transaction } from "../../../platform/database/database.ts";
import { type RowPage, readPage } from "../../../platform/database/row-page.ts";
import type { RunnerTable } from "./schema.ts";

/** A stored runner without its credential, which is never shown. */
export interface RunnerRow extends Omit<Selectable<RunnerTable>, "credential"> {
  /** True when one of its workers was seen lately, or when it is dialled. */
  readonly is_available: boolean;
}

/** A new runner. */
export interface NewRunner {
  readonly runnerId: string;
  readonly manifest: Uint8Array;
}

/** The URL where a runner is dialled, and the credential for it. */
export interface RunnerAddress {
  readonly url: string;
  readonly credential: string | null;
}

/** A batch of new runners. */
export interface NewRunners {
  readonly client: string;
  readonly workerId: string;
  readonly era: string;
  readonly runners: readonly NewRunner[];
  /** Undefined for runners that dial in. */
  readonly address: RunnerAddress | undefined;
}

/**
 * Registers runners, each once. Returns the ids that now belong to this worker id; the others belong to another one. When two
 * workers register one id at the same time, the second waits for the first and then finds it taken.
 */
export async function registerRunners(
  trx: Transaction,
  { client, workerId, era, runners, address }: NewRunners,
): Promise<string[]> {
  // In the order of ids, so that two batches cannot deadlock.
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

/** Returns a runner; undefined when it is unknown. It is available when a worker was seen within `seenWithinMs`. */
export async function findRunner(
  db: Db | Transaction,
  { client, runnerId, seenWithinMs }: { client: string; runnerId: string; seenWithinMs: number },
): Promise<RunnerRow | undefined> {
  if (!isStorableText(runnerId)) {
    return undefined;
  }
  return await runnersOf(db, client, seenWithinMs).where("runner_id", "=", runnerId).executeTakeFirst();
}

/** Returns undefined for a runner that dials in. */
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

/** Lists runners by id. Manifests may be large, so a page may be short. */
export async function listRunners(
  db: Db,
  args: { client: string; after: string | undefined; limit: number; seenWithinMs: number },
): Promise<RowPage<RunnerRow>> {
  const { client, after, limit, seenWithinMs } = args;
  let query = runnersOf(db, client, seenWithinMs)
    .orderBy("runner_id")
    .limit(limit + 1);
  if (after !== undefined) {
    query = query.where("runner_id", ">", after);
  }
  return await readPage(db, query, { order: sql`runner_id`, body: "manifest", limit });
}

/** Lists the ids of the runners that a worker id has registered. */
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

/** Deletes a runner. Returns false when it is unknown. */
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
