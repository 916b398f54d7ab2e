// Pages of rows that may be large: as many as fit into one answer, and at least one.

import { sql } from "kysely";
import type { Db } from "./database.ts";

/** Answers stay well below what clients take. */
const pageBytesMax = 1_048_576;

export interface PageKeys {
  readonly keys: readonly string[];
  readonly hasMore: boolean;
}

export interface LargeRows {
  readonly table: "runner" | "binding" | "agent_profile";
  /** What the list is ordered by, beside the client. */
  readonly key: "runner_id" | "binding_id" | "agent_id";
  /** What may be large. */
  readonly body: "manifest" | "body";
}

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
  const fitting = rows.filter(({ bytes }, index) => index < limit && (index === 0 || bytes <= pageBytesMax));
  return { keys: fitting.map((row) => row.key), hasMore: fitting.length < rows.length };
}
