// Pages of the audit entries of a client's runs.

import type { Selectable } from "kysely";
import type { Db } from "../../../platform/database/database.ts";
import type { AuditEntryTable } from "./schema.ts";

/** A stored audit entry. */
export type AuditEntryRow = Selectable<AuditEntryTable>;

/** Lists audit entries, the newest first. */
export async function listAuditEntries(
  db: Db,
  args: { client: string; runId: string | undefined; before: string | undefined; limit: number },
): Promise<AuditEntryRow[]> {
  const { client, runId, before, limit } = args;
  return await db
    .selectFrom("audit_entry")
    .select(["id", "client", "run_id", "runner_id", "action", "resource", "scope", "result", "reason", "create_time"])
    .where("client", "=", client)
    .$if(runId !== undefined, (query) => query.where("run_id", "=", runId ?? ""))
    .$if(before !== undefined, (query) => query.where("id", "<", before ?? ""))
    .orderBy("id", "desc")
    .limit(limit)
    .execute();
}
