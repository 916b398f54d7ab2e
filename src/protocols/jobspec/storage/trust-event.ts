// The trust audit: every change of a key, written with it, and every JobSpec that was refused.

import { type Insertable, type Selectable, sql } from "kysely";
import { type Db, isStorableText, type Transaction } from "../../../platform/database/database.ts";
import type { TrustEventTable, TrustEventType } from "./schema.ts";

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

export async function insertTrustEvent(
  db: Db | Transaction,
  event: Omit<Insertable<TrustEventTable>, "create_time">,
): Promise<void> {
  await db.insertInto("trust_event").values(event).execute();
}

/** Newest first: ids are in order of creation. */
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

/** Gives the number that went. */
export async function deleteTrustEvents(db: Db, args: { createdBefore: string; limit: number }): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from trust_event where id in (
      select id from trust_event where id < ${args.createdBefore} order by id limit ${args.limit})`.execute(db);
  return Number(numAffectedRows);
}

/** Keeps the newest refusals: whoever may submit can make as many as it likes. Gives the number that went. */
export async function deleteSurplusRefusals(db: Db, args: { kept: number; limit: number }): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from trust_event where id in (
      select id from trust_event
      where type = ${refusal} and id <= (
        select id from trust_event where type = ${refusal} order by id desc offset ${args.kept} limit 1)
      order by id limit ${args.limit})`.execute(db);
  return Number(numAffectedRows);
}
