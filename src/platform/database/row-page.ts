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
export async function readPage<Row>(db: Db, query: Expression<Row>, cut: PageCut): Promise<RowPage<Row>> {
  const { rows } = await sql<Row & PlacedRow>`${cutPage(query, cut)} order by page_position`.execute(db);
  return { rows, hasMore: rows.length < (rows[0]?.found_rows ?? 0) };
}

/** A page of a list that reads a bounded number of rows. It may be short or empty while the list goes on. */
export interface BoundedPage<Row> {
  readonly rows: Row[];
  /** The place after which the next page begins; undefined after the last page. */
  readonly next: string | undefined;
}

/** How a page is cut from a query that reads a bounded number of rows. */
export interface BoundedCut<Row> extends PageCut {
  /** A query of the place of the last row that may be read; none or null when the list ends before it. */
  readonly edge: RawBuilder<unknown>;
  readonly placeOf: (row: Row) => string;
}

/** The rows that a page may read, as parts of the query that gives them in the order of an index. */
export interface ReadBound {
  /** Leaves the rows after them out. */
  readonly limit: RawBuilder<unknown>;
  /** Leaves the last one of them alone. */
  readonly edge: RawBuilder<unknown>;
}

/**
 * Returns how many rows a page may read: a filter may match few of them. As a query, because the planner sorts all rows when it expects
 * about as many as it knows to be needed.
 */
export function readBound(limit: number): ReadBound {
  // Two values, so that connections prepare two statements. A caller of large pages reads a long list.
  const rowsMax = limit <= 50 ? 1_000 : 2_500;
  return {
    limit: sql`limit (select ${sql.lit(rowsMax)})`,
    edge: sql`offset (select ${sql.lit(rowsMax - 1)}) limit 1`,
  };
}

/** Reads the rows that fit into a page. Where the page has all that match, the edge is read in the same snapshot. */
export async function readBoundedPage<Row>(
  db: Db,
  query: Expression<Row>,
  { edge, placeOf, ...cut }: BoundedCut<Row>,
): Promise<BoundedPage<Row>> {
  const { rows } = await sql<Row & PlacedRow & { readonly edge: string | null }>`
    with page as materialized (${cutPage(query, cut)})
    select page.*, case when (select count(*) = coalesce(max(found_rows), 0) from page) then (${edge}) end as edge
    from (values (true)) as one left join page on true order by page_position`.execute(db);
  const found = rows.filter(({ page_position }) => page_position !== null);
  const last = found.at(-1);
  const isCut = last !== undefined && found.length < (last.found_rows ?? 0);
  return { rows: found, next: isCut ? placeOf(last) : (rows[0]?.edge ?? undefined) };
}

interface PlacedRow {
  readonly found_rows: number | null;
  readonly page_position: number | null;
}

function cutPage(query: Expression<unknown>, { order, body, limit }: PageCut): RawBuilder<unknown> {
  return sql`
    select * from (
      select found.*, count(*) over () as found_rows, row_number() over page as page_position,
        sum(octet_length(${sql.ref(body)})) over (page rows unbounded preceding) as page_bytes
      from ${query} as found window page as (order by ${order})
    ) as placed
    where page_position <= ${limit} and (page_position = 1 or coalesce(page_bytes, 0) <= ${sql.lit(pageBytesMax)})`;
}
