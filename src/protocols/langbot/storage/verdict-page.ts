// Pages of the verdicts on a run's results.

import type { Selectable } from "kysely";
import type { Db } from "../../../platform/database/database.ts";
import type { ResultVerdictTable } from "./schema.ts";

/** A stored verdict. */
export type ResultVerdictRow = Selectable<ResultVerdictTable>;

/** Lists verdicts in the order of their arrival. */
export async function listResultVerdicts(
  db: Db,
  { runId, after, limit }: { runId: string; after: number | undefined; limit: number },
): Promise<ResultVerdictRow[]> {
  return await db
    .selectFrom("result_verdict")
    .select(["run_id", "position", "sequence", "type", "disposition", "diagnostics", "create_time"])
    .where("run_id", "=", runId)
    .$if(after !== undefined, (query) => query.where("position", ">", after ?? 0))
    .orderBy("position")
    .limit(limit)
    .execute();
}
