// The retention of calls of models: they go with their run, and with the logs.

import { erasedRowsMax } from "../../engine/storage/erase.ts";
import type { Retention } from "../../engine/storage/retention.ts";
import type { Db } from "../../platform/database/database.ts";
import { deleteModelCalls, deleteModelCallsBefore } from "./storage/model-call.ts";

/** The retention of calls. */
export const modelCallRetention: Retention = {
  expiring: [{ name: "model calls", days: "logs", deleteBatch: deleteModelCallsBefore }],
  deleteOfRuns,
  purgeRuns: deleteOfRuns,
};

async function deleteOfRuns(db: Db, runs: readonly string[]): Promise<void> {
  await deleteModelCalls(db, { runs, rowsMax: erasedRowsMax });
}
