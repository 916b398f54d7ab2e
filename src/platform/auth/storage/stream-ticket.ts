// Rows of stream tickets, found by the hash of the ticket. Only the database's clock measures their age.

import { sql } from "kysely";
import type { Db } from "../../database/database.ts";
import { hasKeyEnded } from "./api-key.ts";

/** The content of a ticket. */
export interface StreamTicketRow {
  readonly client: string;
  /** The public id of the session that the ticket opens; null when it opens a run. */
  readonly session: string | null;
  readonly run: string | null;
  /** The API key that made the ticket; null for another credential. */
  readonly api_key: string | null;
}

/** Inserts a ticket and returns its creation time. */
export async function insertStreamTicket(
  db: Db,
  ticket: StreamTicketRow & { hash: Uint8Array },
): Promise<{ createTime: Date }> {
  const row = await db
    .insertInto("stream_ticket")
    .values({ ...ticket, hash: Buffer.from(ticket.hash) })
    .returning("create_time")
    .executeTakeFirstOrThrow();
  return { createTime: row.create_time };
}

/**
 * Uses a ticket: the first time within `openMs`, later within `lifeMs`. Returns undefined when it is unknown or too old, or when the
 * key that made it has ended.
 */
export async function useStreamTicket(
  db: Db,
  { hash, openMs, lifeMs }: { hash: Uint8Array; openMs: number; lifeMs: number },
): Promise<StreamTicketRow | undefined> {
  const youngerThan = (ageMs: number) => sql<boolean>`create_time > now() - ${ageMs} * interval '1 millisecond'`;
  return await db
    .updateTable("stream_ticket")
    .set({ open_time: sql<Date>`coalesce(open_time, now())` })
    .where("hash", "=", Buffer.from(hash))
    .where(youngerThan(lifeMs))
    .where((where) => where.or([where("open_time", "is not", null), youngerThan(openMs)]))
    .where(sql<boolean>`not exists (select 1 from api_key where api_key.id = stream_ticket.api_key and ${hasKeyEnded})`)
    .returning(["client", "session", "run", "api_key"])
    .executeTakeFirst();
}

/** Deletes tickets older than `ageMs`, by the database's clock. */
export async function deleteTicketsOlderThan(db: Db, ageMs: number): Promise<void> {
  await db
    .deleteFrom("stream_ticket")
    .where("create_time", "<", sql<Date>`now() - ${ageMs} * interval '1 millisecond'`)
    .execute();
}
