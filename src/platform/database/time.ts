// The database's clock, the only clock that all replicas share.

import { type RawBuilder, sql } from "kysely";
import type { Db } from "./database.ts";

/** The milliseconds since 1970 when the statement runs, regardless of when its transaction began. */
export const shownMs: RawBuilder<number> = sql<number>`(extract(epoch from clock_timestamp()) * 1000)::float8`;

/**
 * When the database server started: the same text in all its connections and their time zones. Another value means that the server
 * was restarted, or that another server took its place.
 */
export const serverStart: RawBuilder<string> = sql<string>`extract(epoch from pg_postmaster_start_time())::text`;

/** Returns SQL for the milliseconds from the start of the transaction until a time; negative after it, null for null. */
export function millisecondsUntil(time: RawBuilder<unknown>): RawBuilder<number | null> {
  return sql<number | null>`(extract(epoch from ${time} - now()) * 1000)::float8`;
}

/** Returns the time of the database's clock, in milliseconds since 1970. */
export async function readTimeMs(db: Db): Promise<number> {
  const { rows } = await sql<{ shownMs: number }>`select ${shownMs} as "shownMs"`.execute(db);
  const [row] = rows;
  if (row === undefined) {
    throw new Error("the database answered without a row");
  }
  return row.shownMs;
}
