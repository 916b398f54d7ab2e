// Pages of potentially large rows: as many as fit into one answer, and at least one.

import { sql } from "kysely";
import type { Db } from "./database.ts";

/** The maximum size of a page, in bytes. Answers stay well below the limits of clients. */
export const pageBytesMax = 1_048_576;

/** The keys of one page. */
export interface PageKeys {
  readonly keys: readonly string[];
  readonly hasMore: boolean;
}

/** A table with large rows. */
export interface LargeRows {
  readonly table: "runner" | "binding" | "agent_profile";
  /** The key that orders the list within a client. */
  readonly key: "runner_id" | "binding_id" | "agent_id";
  /** The column that may be large. */
  readonly body: "manifest" | "body";
}

/** Returns the keys of the next page of a client's rows. */
export async function readPageKeys(
  db: Db,
  { table, key, body }: LargeRows,
  { client, after, limit }: { client: string; after: string | undefined; limit: number },
): Promise<PageKeys> {
  const [name, size] = [sql.ref(key), sql.ref(body)];
  const { rows } = await sql<{ key: string; bytes: number }>`
    select key, sum(bytes) over (order by key) as bytes from (
      select ${name} as key, octet_length(${size}) as bytes from ${sql.table(table)}
      where client = ${client} and ${after === undefined ? sql`true` : sql`${name} > ${after}`}
      order by ${name} limit ${limit + 1}
    ) as page order by key`.execute(db);
  const page = fitPage(rows, limit);
  return { keys: page.rows.map((row) => row.key), hasMore: page.hasMore };
}

/** A page of rows. */
export interface RowPage<Row> {
  readonly rows: Row[];
  readonly hasMore: boolean;
}

/** Takes a page from `limit + 1` rows. `bytes` of a row is the size of all rows up to it. */
export function fitPage<Row extends { readonly bytes: number }>(rows: readonly Row[], limit: number): RowPage<Row> {
  const fitting = rows.filter(({ bytes }, index) => index < limit && (index === 0 || bytes <= pageBytesMax));
  return { rows: fitting, hasMore: fitting.length < rows.length };
}
