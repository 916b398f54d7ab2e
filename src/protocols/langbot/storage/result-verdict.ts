// Verdicts on reported results that are not in their run's log as they were reported.

import { type Selectable, sql } from "kysely";
import type { Db, Transaction } from "../../../platform/database/database.ts";
import type { ResultVerdictTable } from "./schema.ts";

/** A verdict on a result. */
export interface VerdictRow {
  /** The number in the runner's own count. */
  readonly sequence: number;
  readonly type: string;
  readonly disposition: string;
  readonly diagnostics: readonly string[];
}

/** Appends verdicts to those of the run, up to `verdictsMax` in all. The caller has locked the run. */
export async function appendVerdicts(
  trx: Transaction,
  runId: string,
  verdicts: readonly VerdictRow[],
  verdictsMax: number = Number.MAX_SAFE_INTEGER,
): Promise<void> {
  if (verdicts.length === 0) {
    return;
  }
  await sql`
    insert into result_verdict (run_id, position, sequence, type, disposition, diagnostics)
    select ${runId}::uuid, place.last + each.index, (each.verdict ->> 'sequence')::int8, each.verdict ->> 'type',
      each.verdict ->> 'disposition', array(select jsonb_array_elements_text(each.verdict -> 'diagnostics'))
    from jsonb_array_elements(${JSON.stringify(verdicts)}::jsonb) with ordinality as each (verdict, index),
      (select coalesce(max(position), 0) as last from result_verdict where run_id = ${runId}) as place
    where place.last + each.index <= ${verdictsMax}::int8`.execute(trx);
}

/** Lists the verdicts on a run's results, the oldest first. */
export async function listVerdicts(db: Db, runId: string): Promise<Selectable<ResultVerdictTable>[]> {
  return await db.selectFrom("result_verdict").selectAll().where("run_id", "=", runId).orderBy("position").execute();
}
