// Rows of calls of models. Their ids contain their times.

import { sql } from "kysely";
import { uuidArray } from "../../../platform/database/binary-array.ts";
import type { Db } from "../../../platform/database/database.ts";
import type { ModelCallTable } from "./schema.ts";

/** A row of a known run. */
export type ModelCallRow = Omit<ModelCallTable, "run_id">;

/** Inserts calls of a run, unless the run is deleted, erased or purged: its row is locked against all of these. */
export async function insertModelCalls(
  db: Db,
  { runId, calls }: { readonly runId: string; readonly calls: readonly ModelCallRow[] },
): Promise<void> {
  if (calls.length === 0) {
    return;
  }
  await db.transaction().execute(async (trx) => {
    const run = await trx
      .selectFrom("run")
      .select("id")
      .where("id", "=", runId)
      .where("delete_time", "is", null)
      .where(sql<boolean>`octet_length(input) > 0`)
      .forShare()
      .executeTakeFirst();
    if (run !== undefined) {
      await trx
        .insertInto("model_call")
        .values(calls.map((call) => ({ ...call, run_id: runId })))
        .execute();
    }
  });
}

/** The page to read: at most `rowsMax` calls; it ends once `bytesMax` is reached. */
export interface ModelCallPage {
  readonly runId: string;
  /** Undefined means all turns. */
  readonly turn: number | undefined;
  /** The id of the last call of the page before; undefined for the first page. */
  readonly after: string | undefined;
  readonly rowsMax: number;
  readonly bytesMax: number;
}

/** Returns calls of a run, oldest first, and whether there are more. A page has at least one call if there is one. */
export async function listModelCalls(
  db: Db,
  { runId, turn, after, rowsMax, bytesMax }: ModelCallPage,
): Promise<{ readonly rows: readonly ModelCallRow[]; readonly hasMore: boolean }> {
  const { rows } = await sql<ModelCallRow & { bytes_before: number }>`
    select following.*,
      sum(octet_length(request) + octet_length(answer)) over (order by id) - octet_length(request) - octet_length(answer)
        as bytes_before
    from (
      select * from model_call
      where run_id = ${runId} and (${turn ?? null}::int is null or turn = ${turn ?? null}::int)
        and id > ${after ?? "00000000-0000-0000-0000-000000000000"}::uuid
      order by run_id, id limit ${sql.lit(rowsMax + 1)}
    ) as following order by id`.execute(db);
  const page = rows.slice(0, rowsMax).filter(({ bytes_before }) => Number(bytes_before) < bytesMax);
  return { rows: page, hasMore: page.length < rows.length };
}

/** Deletes the calls of runs. */
export async function deleteModelCalls(
  db: Db,
  { runs, rowsMax }: { readonly runs: readonly string[]; readonly rowsMax: number },
): Promise<void> {
  let deleted = rowsMax;
  while (deleted === rowsMax) {
    const { numAffectedRows = 0n } = await sql`
      delete from model_call where id in (
        select id from model_call where run_id = any(${uuidArray(runs)}::uuid[]) limit ${sql.lit(rowsMax)})`.execute(
      db,
    );
    deleted = Number(numAffectedRows);
  }
}

/** Deletes old calls, and returns how many. */
export async function deleteModelCallsBefore(
  db: Db,
  { createdBefore, limit }: { readonly createdBefore: string; readonly limit: number },
): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from model_call where id in (
      select id from model_call where id < ${createdBefore}::uuid order by id limit ${sql.lit(limit)})`.execute(db);
  return Number(numAffectedRows);
}
