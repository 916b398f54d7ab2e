// The rows of the log. BatchWriters insert binary arrays under the fence of their replica. Reads use the key, page by page.

import { sql } from "kysely";
import type pg from "pg";
import { asQuery } from "../../platform/database/as-query.ts";
import {
  byteaArray,
  int8Array,
  repeatedInt4Array,
  repeatedUuidArray,
  uuidArray,
} from "../../platform/database/binary-array.ts";
import type { Db, Transaction } from "../../platform/database/database.ts";
import { gathered } from "../../platform/database/gather.ts";
import { rowStatement } from "../../platform/database/row-statement.ts";

/** A row of the log. */
export interface ResultRow {
  readonly runId: string;
  readonly sequence: number;
  readonly epoch: number;
  readonly payload: Uint8Array;
}

/** The rows of one run, with their common values once. */
export interface RunRows {
  readonly runId: string;
  readonly epoch: number;
  readonly results: readonly { readonly sequence: number; readonly bytes: Uint8Array }[];
}

/** A stored result of a known run. */
export interface StoredResult {
  readonly sequence: number;
  readonly payload: Uint8Array;
}

// The statement locks the fence itself: a takeover either waits for it or makes it write nothing.
const fencedInsert = {
  name: "insert results under fence",
  text: `insert into run_result (run_id, sequence, epoch, payload)
    select batch.* from unnest($1::uuid[], $2::int8[], $3::int4[], $4::bytea[]) as batch
    cross join (select 1 from replica where id = $5 and lease_until > now() for key share) as fence`,
};

/** Writes a batch on a batch writer's own connection. Returns false when the replica has lost its lease; nothing was written then. */
export async function insertResultsFenced(
  batchWriter: pg.Client,
  { replicaId, runs }: { replicaId: string; runs: readonly RunRows[] },
): Promise<boolean> {
  const results = runs.flatMap((run) => run.results);
  const { rowCount } = await batchWriter.query({
    ...fencedInsert,
    values: [
      repeatedUuidArray(runs.map((run) => ({ value: run.runId, count: run.results.length }))),
      int8Array(results.map((result) => result.sequence)),
      repeatedInt4Array(runs.map((run) => ({ value: run.epoch, count: run.results.length }))),
      byteaArray(results.map((result) => result.bytes)),
      replicaId,
    ],
  });
  return rowCount === results.length;
}

/** Writes results in a transaction that has locked the run. */
export async function insertResults(trx: Transaction, rows: readonly ResultRow[]): Promise<void> {
  if (rows.length === 0) {
    return;
  }
  await trx
    .insertInto("run_result")
    .values(
      rows.map((row) => ({
        run_id: row.runId,
        sequence: row.sequence,
        epoch: row.epoch,
        payload: Buffer.from(row.payload),
      })),
    )
    .execute();
}

/** Returns the next results of a run after a sequence, in order. A page shorter than `limit` reached the end. */
export async function readResults(
  db: Db | Transaction,
  args: { runId: string; after: number; limit: number },
): Promise<StoredResult[]> {
  return await db
    .selectFrom("run_result")
    .select(["sequence", "payload"])
    .where("run_id", "=", args.runId)
    .where("sequence", ">", args.after)
    .orderBy("sequence")
    .limit(args.limit)
    .execute();
}

/** The page to read: at most `rowsMax` results; it ends once `bytesMax` is reached. */
export interface PageRequest extends ReadCursor {
  readonly rowsMax: number;
  readonly bytesMax: number;
  /** Of a result that is larger than the page, only so many bytes from its beginning are read; unset means all. */
  readonly headBytes?: number;
}

/** A result of a page. */
export interface PageResult extends StoredResult {
  /** The size of the whole payload. */
  readonly sizeBytes: number;
}

const int4Max = 2 ** 31 - 1;
/** Bounds the bytes of a statement: pages are large. */
const pagesPerStatementMax = 16;

/**
 * Returns the next results of a run after a sequence, in order. A page has at least one result if there is one. Concurrent reads
 * share one statement.
 */
export const readResultPage = gathered(async (db, pages: readonly PageRequest[]): Promise<PageResult[][]> => {
  const read = pages.map((): PageResult[] => []);
  for (const row of await readPages(db, { asked: pages })) {
    read[row.place]?.push(row);
  }
  return read;
}, pagesPerStatementMax);

const readPages = rowStatement<{ asked: readonly PageRequest[] }, PageResult & { place: number }>(
  {
    asked: {
      run_id: ["uuid", ({ runId }) => runId],
      after: ["int8", ({ after }) => after],
      rows_max: ["int8", ({ rowsMax }) => rowsMax],
      bytes_max: ["int8", ({ bytesMax }) => bytesMax],
      head_bytes: ["int4", ({ headBytes = 0 }) => Math.min(headBytes, int4Max)],
      place: ["int4", (_, index) => index],
    },
  },
  ({ asked }) => sql`
    select asked.place, page.sequence, octet_length(page.payload) as "sizeBytes",
      case when asked.head_bytes > 0 and octet_length(page.payload) > asked.bytes_max
        then substring(page.payload from 1 for asked.head_bytes) else page.payload end as payload
    from ${asked} as asked
    cross join lateral (
      select sequence, payload, sum(octet_length(payload)) over (order by sequence) - octet_length(payload) as bytes_before
      from (
        select sequence, payload from run_result
        where run_result.run_id = asked.run_id and sequence > asked.after
        order by sequence limit asked.rows_max
      ) as following
    ) as page
    where page.bytes_before < asked.bytes_max
    order by asked.place, page.sequence`,
);

/** Returns the bytes of a result from a position on; undefined when the result is gone. */
export async function readPayload(
  db: Db,
  { runId, sequence, from }: { readonly runId: string; readonly sequence: number; readonly from: number },
): Promise<Uint8Array | undefined> {
  const row = await db
    .selectFrom("run_result")
    .select(sql<Uint8Array>`substring(payload from ${from + 1}::int)`.as("bytes"))
    .where("run_id", "=", runId)
    .where("sequence", "=", sequence)
    .executeTakeFirst();
  return row?.bytes;
}

/** A run and the sequence to read after. */
export interface ReadCursor {
  readonly runId: string;
  readonly after: number;
}

/** Returns the next results of many runs by one statement, in order for each run. */
export async function readResultsOfRuns(
  db: Db,
  args: { cursors: readonly ReadCursor[]; limitPerRun: number },
): Promise<{ runId: string; sequence: number; payload: Uint8Array }[]> {
  const runs = uuidArray(args.cursors.map((cursor) => cursor.runId));
  const after = int8Array(args.cursors.map((cursor) => cursor.after));
  const { rows } = await sql<{ runId: string; sequence: number; payload: Uint8Array }>`
    select watched.run_id as "runId", result.sequence, result.payload
    from unnest(${asQuery(runs, "uuid[]")}, ${asQuery(after, "int8[]")}) with ordinality as watched (run_id, after, place)
    cross join lateral (
      select sequence, payload from run_result
      where run_result.run_id = watched.run_id and sequence > watched.after
      order by sequence limit ${sql.lit(args.limitPerRun)}
    ) as result
    order by watched.place, result.sequence`.execute(db);
  return rows;
}

/** Returns the sequence of the newest result of a run; 0 when it has no results. Concurrent reads share one statement. */
export const lastSequence = gathered(async (db, runIds: readonly string[]): Promise<number[]> => {
  const rows = await findLastSequences(db, { asked: runIds });
  return rows.map(({ sequence }) => sequence);
});

const findLastSequences = rowStatement<{ asked: readonly string[] }, { sequence: number }>(
  { asked: { run_id: ["uuid", (id) => id], place: ["int4", (_, index) => index] } },
  ({ asked }) => sql`
    select coalesce(newest.sequence, 0)::int8 as sequence
    from ${asked} as asked
    left join lateral (
      select sequence from run_result where run_result.run_id = asked.run_id order by sequence desc limit 1
    ) as newest on true
    order by asked.place`,
);

/** The ownership of a run and the length of its log. */
export interface RunPosition {
  readonly runId: string;
  readonly epoch: number;
  readonly owner: string | null;
  readonly lastSequence: number;
}

const positionsOf = {
  name: "positions of runs",
  text: `select run.id as "runId", run.epoch, run.owner, coalesce(newest.sequence, 0)::float8 as "lastSequence"
    from run
    left join lateral (
      select sequence from run_result where run_result.run_id = run.id order by sequence desc limit 1
    ) as newest on true
    where run.id = any($1::uuid[])
    for key share of run`,
};

/**
 * Returns who owns each run and how far its log reaches. A batch writer asks on its own connection when it does not know whether a
 * batch was written, and whether this database has all that an earlier one had. The lock makes this a commit of its own: the answer
 * comes when the synchronous standbys have everything that it shows. A primary that was cut off from them can show rows that they
 * never received.
 */
export async function readPositions(batchWriter: pg.Client, runIds: readonly string[]): Promise<RunPosition[]> {
  const { rows } = await batchWriter.query<RunPosition>({ ...positionsOf, values: [uuidArray(runIds)] });
  return rows;
}
