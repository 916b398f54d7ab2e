// Reports of workers on their way from the replica that received them to the replica that works on their run.

import { sql } from "kysely";
import { uuidArray } from "../../../platform/database/binary-array.ts";
import type { Db } from "../../../platform/database/database.ts";

/** Inserts a report. */
export async function insertForwardedReport(
  db: Db,
  { id, runId, request }: { id: string; runId: string; request: Uint8Array },
): Promise<void> {
  await db
    .insertInto("forwarded_report")
    .values({ id, run_id: runId, request: Buffer.from(request), response: null })
    .execute();
}

/** A forwarded report. */
export interface ForwardedReport {
  readonly id: string;
  readonly run_id: string;
  readonly request: Uint8Array;
}

/** Lists up to 100 unanswered reports of these runs, the oldest of each run first. */
export async function listForwardedReports(db: Db, runIds: readonly string[]): Promise<ForwardedReport[]> {
  const { rows } = await sql<ForwardedReport>`
    select id, run_id, request from forwarded_report
    where run_id = any(${uuidArray(runIds)}::uuid[]) and response is null
    order by run_id, id limit 100`.execute(db);
  return rows;
}

/** Stores the answer to a report. */
export async function answerForwardedReport(
  db: Db,
  { id, response }: { id: string; response: Uint8Array },
): Promise<void> {
  await db
    .updateTable("forwarded_report")
    .set({ response: Buffer.from(response) })
    .where("id", "=", id)
    .execute();
}

/** Returns the answer and deletes its report. Undefined when it is not answered yet. */
export async function takeForwardedAnswer(db: Db, id: string): Promise<Uint8Array | undefined> {
  const row = await db
    .deleteFrom("forwarded_report")
    .where("id", "=", id)
    .where("response", "is not", null)
    .returning("response")
    .executeTakeFirst();
  return row?.response ?? undefined;
}

/** Deletes a report whose sender no longer waits. */
export async function deleteForwardedReport(db: Db, id: string): Promise<void> {
  await db.deleteFrom("forwarded_report").where("id", "=", id).execute();
}
