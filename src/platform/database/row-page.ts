// Pages of potentially large rows: as many as fit into one answer, and at least one.

import { type Expression, type RawBuilder, sql } from "kysely";
import type { Db } from "./database.ts";

/** The maximum size of a page, in bytes. Answers stay well below the limits of clients. */
export const pageBytesMax = 1_048_576;

/** A page of rows. */
export interface RowPage<Row> {
  readonly rows: Row[];
  readonly hasMore: boolean;
}

/** How a query is cut into a page. */
export interface PageCut {
  /** The order of the query, by its columns. */
  readonly order: RawBuilder<unknown>;
  /** Its column with large values. Postgres reads those of the page alone. */
  readonly body: string;
  /** The query returns one row more, if there is one. */
  readonly limit: number;
}

/** Reads the rows of an ordered query that fit into a page. */
export async function readPage<Row>(
  db: Db,
  query: Expression<Row>,
  { order, body, limit }: PageCut,
): Promise<RowPage<Row>> {
  const { rows } = await sql<Row & { readonly found_rows: number }>`
    select * from (
      select found.*, count(*) over () as found_rows, row_number() over page as page_position,
        sum(octet_length(${sql.ref(body)})) over (page rows unbounded preceding) as page_bytes
      from ${query} as found window page as (order by ${order})
    ) as placed
    where page_position <= ${limit} and (page_position = 1 or coalesce(page_bytes, 0) <= ${sql.lit(pageBytesMax)})
    order by page_position`.execute(db);
  return { rows, hasMore: rows.length < (rows[0]?.found_rows ?? 0) };
}
