// Pages of a conversation's transcript, and the search in its texts.

import { type RawBuilder, type Selectable, sql } from "kysely";
import { textArray } from "../../../platform/database/binary-array.ts";
import { type Db, isStorableText } from "../../../platform/database/database.ts";
import type { HistoryItemTable } from "./schema.ts";

/** A stored message of a conversation. */
export type HistoryItemRow = Omit<Selectable<HistoryItemTable>, "scope">;

/** A page of a transcript. */
export interface HistoryPage {
  /** The items, oldest first. */
  readonly items: readonly HistoryItemRow[];
  /** True when more items follow in the direction of the page. */
  readonly hasMore: boolean;
}

/** The accepted values of each list. An empty list excludes nothing. */
export interface HistoryFilters {
  readonly roles: readonly string[];
  readonly itemTypes: readonly string[];
  /** The types of the event that started the item's run. */
  readonly eventTypes: readonly string[];
}

/** The type of all items. */
export const historyItemType = "message";

/** The position and the limits of a page. */
export interface HistoryPageRequest {
  readonly scope: Uint8Array;
  readonly filters: HistoryFilters;
  /** Both bounds are exclusive. */
  readonly before?: number | undefined;
  readonly after?: number | undefined;
  /** Starts at the newest item or at the oldest. */
  readonly direction: "backward" | "forward";
  readonly limit: number;
  /** No item is added once the page has this many bytes. */
  readonly bytesMax: number;
}

/** Returns a page of a transcript. */
export async function readHistoryPage(db: Db, request: HistoryPageRequest): Promise<HistoryPage> {
  const { scope, filters, before, after, direction, limit, bytesMax } = request;
  const order = direction === "backward" ? sql`desc` : sql`asc`;
  const bounds = [
    ...conditions(scope, filters),
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

/** Returns the number of items of a conversation. */
export async function countHistory(db: Db, scope: Uint8Array): Promise<number> {
  const row = await db
    .selectFrom("conversation")
    .select("last_item")
    .where("scope", "=", Buffer.from(scope))
    .executeTakeFirst();
  return row?.last_item ?? 0;
}

/** A search in a transcript. */
export interface HistorySearch {
  readonly scope: Uint8Array;
  /** Matched literally, regardless of case. */
  readonly text: string;
  readonly filters: HistoryFilters;
  readonly limit: number;
  readonly bytesMax: number;
}

/** Returns the newest items that contain the text, newest first, and the number of all matches. */
export async function searchHistory(
  db: Db,
  { scope, text, filters, limit, bytesMax }: HistorySearch,
): Promise<{ items: readonly HistoryItemRow[]; total: number }> {
  if (!isStorableText(text)) {
    return { items: [], total: 0 };
  }
  const bounds = [...conditions(scope, filters), sql`content ~ ${caselessPattern(text)}`];
  const matching = sql`from history_item where ${sql.join(bounds, sql` and `)}`;
  const found = sql`select ${columns}, count(*) over () as total ${matching} order by seq desc limit ${limit}`;
  const { rows } = await sql<Measured & { total: number }>`${fitting(found, sql`desc`, bytesMax)}`.execute(db);
  return { items: rows.map(({ found: _, total: __, ...item }) => item), total: rows[0]?.total ?? 0 };
}

function conditions(conversation: Uint8Array, { roles, itemTypes, eventTypes }: HistoryFilters): RawBuilder<unknown>[] {
  const scope = Buffer.from(conversation);
  const anyOf = (values: readonly string[]) => sql`any(${textArray(values.filter(isStorableText))}::text[])`;
  const ofEvents = sql`
    run_id in (select run_id from agent_event where scope = ${scope} and event_type = ${anyOf(eventTypes)})`;
  return [
    sql`scope = ${scope}`,
    ...(roles.length === 0 ? [] : [sql`role = ${anyOf(roles)}`]),
    ...(itemTypes.length === 0 || itemTypes.includes(historyItemType) ? [] : [sql`false`]),
    ...(eventTypes.length === 0 ? [] : [ofEvents]),
  ];
}

const columns = sql.join(
  ["seq", "id", "run_id", "event_id", "role", "content", "content_json", "create_time"].map((name) => sql.ref(name)),
);

interface Measured extends HistoryItemRow {
  /** The number of rows before bytes were counted. */
  readonly found: number;
}

/** Selects the first rows that fit, and at least one if there are any. */
function fitting(found: RawBuilder<unknown>, order: RawBuilder<unknown>, bytesMax: number): RawBuilder<unknown> {
  return sql`
    select * from (
      select item.*, count(*) over () as found,
        sum(octet_length(content_json)) over (order by seq ${order}) - octet_length(content_json) as bytes_before
      from (${found}) as item
    ) as measured where bytes_before < ${bytesMax}::int8 order by seq ${order}`;
}

/**
 * Returns a regular expression for the text itself, regardless of case. Postgres' own case-insensitive matching knows only
 * ASCII in a database without a locale, such as ours.
 */
function caselessPattern(text: string): string {
  return [...text].map(caselessCharacter).join("");
}

function caselessCharacter(character: string): string {
  const forms = [character, character.toLowerCase(), character.toUpperCase()].filter((form) => [...form].length === 1);
  const different = [...new Set(forms)];
  return different.length > 1 ? `[${different.join("")}]` : character.replace(/[^\p{L}\p{N}]/u, escapeCharacter);
}

/**
 * Escapes a character by its number: `.` gives `\U0000002e`. Punctuation has a meaning in an expression, and a blank may have
 * one.
 */
function escapeCharacter(character: string): string {
  return `\\U${(character.codePointAt(0) ?? 0).toString(16).padStart(8, "0")}`;
}
