// What was said in a conversation, page by page, and what of it has a text in it.

import { type RawBuilder, type Selectable, sql } from "kysely";
import { type Db, isStorableText } from "./database.ts";
import type { HistoryItemTable } from "./schema.ts";

export type HistoryItemRow = Omit<Selectable<HistoryItemTable>, "scope">;

export interface HistoryPage {
  /** Oldest first. */
  readonly items: readonly HistoryItemRow[];
  /** There are more behind the last one that was come to. */
  readonly hasMore: boolean;
}

export interface HistoryPageRequest {
  readonly scope: Uint8Array;
  /** Both are left out themselves. */
  readonly before?: number | undefined;
  readonly after?: number | undefined;
  /** From the newest one on, or from the oldest. */
  readonly direction: "backward" | "forward";
  readonly limit: number;
  /** No item is added once the page has so many bytes. */
  readonly bytesMax: number;
}

export async function readHistoryPage(db: Db, request: HistoryPageRequest): Promise<HistoryPage> {
  const { scope, before, after, direction, limit, bytesMax } = request;
  const order = direction === "backward" ? sql`desc` : sql`asc`;
  const bounds = [
    sql`scope = ${Buffer.from(scope)}`,
    ...(before === undefined ? [] : [sql`seq < ${before}::int8`]),
    ...(after === undefined ? [] : [sql`seq > ${after}::int8`]),
  ];
  const found = sql`
    select ${columns} from history_item where ${sql.join(bounds, sql` and `)} order by seq ${order} limit ${limit + 1}`;
  const { rows } = await sql<Measured>`${fitting(found, order, bytesMax)}`.execute(db);
  const items = rows.slice(0, limit).map(({ found: _, ...item }) => item);
  const hasMore = (rows[0]?.found ?? 0) > items.length;
  return { items: direction === "backward" ? items.reverse() : items, hasMore };
}

/** How many items a conversation has. */
export async function countHistory(db: Db, scope: Uint8Array): Promise<number> {
  const row = await db
    .selectFrom("conversation")
    .select("last_item")
    .where("scope", "=", Buffer.from(scope))
    .executeTakeFirst();
  return row?.last_item ?? 0;
}

export interface HistorySearch {
  readonly scope: Uint8Array;
  /** Taken literally, whatever the case of its letters. */
  readonly text: string;
  readonly role: string | undefined;
  readonly limit: number;
  readonly bytesMax: number;
}

/** The newest items that have the text, newest first, and how many there are. */
export async function searchHistory(
  db: Db,
  { scope, text, role, limit, bytesMax }: HistorySearch,
): Promise<{ items: readonly HistoryItemRow[]; total: number }> {
  if (!isStorableText(text) || (role !== undefined && !isStorableText(role))) {
    return { items: [], total: 0 };
  }
  const ofRole = role === undefined ? sql`` : sql` and role = ${role}`;
  const matching = sql`
    from history_item where scope = ${Buffer.from(scope)} and content ~ ${caselessPattern(text)}${ofRole}`;
  const found = sql`select ${columns}, count(*) over () as total ${matching} order by seq desc limit ${limit}`;
  const { rows } = await sql<Measured & { total: number }>`${fitting(found, sql`desc`, bytesMax)}`.execute(db);
  return { items: rows.map(({ found: _, total: __, ...item }) => item), total: rows[0]?.total ?? 0 };
}

const columns = sql.join(
  ["seq", "id", "run_id", "event_id", "role", "content", "content_json", "create_time"].map((name) => sql.ref(name)),
);

interface Measured extends HistoryItemRow {
  /** Before bytes were counted. */
  readonly found: number;
}

/** The first of what was found, as many as fit: at least one when there is one. */
function fitting(found: RawBuilder<unknown>, order: RawBuilder<unknown>, bytesMax: number): RawBuilder<unknown> {
  return sql`
    select * from (
      select item.*, count(*) over () as found,
        sum(octet_length(content_json)) over (order by seq ${order}) - octet_length(content_json) as bytes_before
      from (${found}) as item
    ) as measured where bytes_before < ${bytesMax}::int8 order by seq ${order}`;
}

/**
 * A regular expression for the text itself. Postgres' own ways to pass over case know ASCII alone where a database has no
 * locale, as ours has.
 */
function caselessPattern(text: string): string {
  return [...text].map(caselessCharacter).join("");
}

function caselessCharacter(character: string): string {
  const forms = [character, character.toLowerCase(), character.toUpperCase()].filter((form) => [...form].length === 1);
  const different = [...new Set(forms)];
  return different.length > 1 ? `[${different.join("")}]` : character.replace(/[^\p{L}\p{N}]/u, escapeCharacter);
}

/** By its number: a mark means something in an expression, and a blank may. */
function escapeCharacter(character: string): string {
  return `\\U${(character.codePointAt(0) ?? 0).toString(16).padStart(8, "0")}`;
}
