// The trust audit: every change of a key, written in its transaction, and every refused JobSpec.

import { type Insertable, type Selectable, sql } from "kysely";
import { type Db, isStorableText, type Transaction } from "../../../platform/database/database.ts";
import type { TrustEventTable, TrustEventType } from "./schema.ts";

/** An event of the trust audit. */
export type TrustEventRow = Selectable<TrustEventTable>;

const trustEventColumns = [
  "id",
  "type",
  "actor",
  "kid",
  "public_key",
  "error_code",
  "document_sha256",
  "detail",
  "create_time",
] as const;

const refusal = "jobspec.refused" satisfies TrustEventType;

/** Inserts an event. */
export async function insertTrustEvent(
  db: Db | Transaction,
  event: Omit<Insertable<TrustEventTable>, "create_time">,
): Promise<void> {
  await db.insertInto("trust_event").values(event).execute();
}

/** Returns events, the newest first: ids are in order of creation. */
export async function listTrustEvents(
  db: Db,
  { type, before, limit }: { type: string | undefined; before: string | undefined; limit: number },
): Promise<TrustEventRow[]> {
  if (type !== undefined && !isStorableText(type)) {
    return [];
  }
  return await db
    .selectFrom("trust_event")
    .select(trustEventColumns)
    .$if(type !== undefined, (query) => query.where("type", "=", type as TrustEventType))
    .$if(before !== undefined, (query) => query.where("id", "<", before ?? ""))
    .orderBy("id", "desc")
    .limit(limit)
    .execute();
}

/** Deletes old events. Returns the number of deleted events. */
export async function deleteTrustEvents(db: Db, args: { createdBefore: string; limit: number }): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from trust_event where id in (
      select id from trust_event where id < ${args.createdBefore} order by id limit ${sql.lit(args.limit)})`.execute(
    db,
  );
  return Number(numAffectedRows);
}

/** Deletes all but the newest `kept` refusals: clients can cause any number of them. Returns the number of deleted events. */
export async function deleteSurplusRefusals(db: Db, args: { kept: number; limit: number }): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from trust_event where id in (
      select id from trust_event
      where type = ${refusal} and id <= (
        select id from trust_event where type = ${refusal} order by id desc offset ${args.kept} limit 1)
      order by id limit ${sql.lit(args.limit)})`.execute(db);
  return Number(numAffectedRows);
}
