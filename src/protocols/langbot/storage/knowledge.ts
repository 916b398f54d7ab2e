// Knowledge bases and their entries, and the search in them.

import { type Selectable, sql } from "kysely";
import pg from "pg";
import { textArray } from "../../../platform/database/binary-array.ts";
import type { Db, Transaction } from "../../../platform/database/database.ts";
import type { KnowledgeBaseTable } from "./schema.ts";

export type KnowledgeBaseRow = Selectable<KnowledgeBaseTable>;

export async function upsertKnowledgeBase(
  db: Db,
  { client, kbId, name }: { client: string; kbId: string; name: string },
): Promise<KnowledgeBaseRow> {
  return await db
    .insertInto("knowledge_base")
    .values({ client, kb_id: kbId, name })
    .onConflict((conflict) => conflict.columns(["client", "kb_id"]).doUpdateSet({ name }))
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function findKnowledgeBase(db: Db, client: string, kbId: string): Promise<KnowledgeBaseRow | undefined> {
  return await knowledgeBase(db, client, kbId).executeTakeFirst();
}

/** Those of the client's knowledge bases that have one of these ids, in any order. */
export async function findKnowledgeBases(db: Db, client: string, ids: readonly string[]): Promise<KnowledgeBaseRow[]> {
  return await db
    .selectFrom("knowledge_base")
    .selectAll()
    .where("client", "=", client)
    .where(sql<boolean>`kb_id = any(${textArray(ids)}::text[])`)
    .execute();
}

/** Keeps it from being deleted until the end of the transaction. */
export async function holdKnowledgeBase(
  trx: Transaction,
  client: string,
  kbId: string,
): Promise<KnowledgeBaseRow | undefined> {
  return await knowledgeBase(trx, client, kbId).forKeyShare().executeTakeFirst();
}

/** By id. */
export async function listKnowledgeBases(
  db: Db,
  { client, after, limit }: { client: string; after: string | undefined; limit: number },
): Promise<KnowledgeBaseRow[]> {
  return await db
    .selectFrom("knowledge_base")
    .selectAll()
    .where("client", "=", client)
    .$if(after !== undefined, (query) => query.where("kb_id", ">", after ?? ""))
    .orderBy("kb_id")
    .limit(limit)
    .execute();
}

/** False when there was none. */
export async function deleteKnowledgeBase(db: Db, client: string, kbId: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom("knowledge_base")
    .where("client", "=", client)
    .where("kb_id", "=", kbId)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

export interface NewEntry {
  readonly entryId: string;
  readonly content: string;
  /** JSON. */
  readonly metadata: string;
}

/** A text or an object that cannot be searched by what it says. */
export class EntryUnfit extends Error {
  override readonly name = "EntryUnfit";
  readonly part: "content" | "metadata";

  constructor(part: EntryUnfit["part"], cause: unknown) {
    super(`the ${part} of an entry cannot be searched`, { cause });
    this.part = part;
  }
}

/** Throws EntryUnfit, after which the transaction is lost. */
export async function upsertKnowledgeEntry(
  trx: Transaction,
  { client, kbId, entry }: { client: string; kbId: string; entry: NewEntry },
): Promise<void> {
  const { entryId, content, metadata } = entry;
  try {
    await trx
      .insertInto("knowledge_entry")
      .values({ client, kb_id: kbId, entry_id: entryId, content, metadata })
      .onConflict((conflict) => conflict.columns(["client", "kb_id", "entry_id"]).doUpdateSet({ content, metadata }))
      .execute();
  } catch (error) {
    throw findUnfit(error) ?? error;
  }
}

/** How many there were. */
export async function deleteKnowledgeEntries(
  db: Db,
  { client, kbId, entryIds }: { client: string; kbId: string; entryIds: readonly string[] },
): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom("knowledge_entry")
    .where("client", "=", client)
    .where("kb_id", "=", kbId)
    .where("entry_id", "in", [...entryIds])
    .executeTakeFirst();
  return Number(numDeletedRows);
}

export interface KnowledgeQuery {
  readonly client: string;
  readonly kbId: string;
  readonly text: string;
  /** A JSON object: members that the metadata of an entry has to have. */
  readonly filters: string;
  readonly rowsMax: number;
  /** Of contents and metadata; the entry that crosses it is still there. */
  readonly bytesMax: number;
}

export interface KnowledgeHit {
  readonly entry_id: string;
  readonly content: string;
  readonly metadata: string;
  readonly score: number;
}

/** Those that have any of the words, the best first. Throws EntryUnfit for filters that no metadata can have. */
export async function searchKnowledge(db: Db, query: KnowledgeQuery): Promise<KnowledgeHit[]> {
  const { client, kbId, text, filters, rowsMax, bytesMax } = query;
  try {
    const { rows } = await sql<KnowledgeHit>`
      with asked as (
        select string_agg('''' || replace(replace(lexeme, '\\', '\\\\'), '''', '''''') || '''', ' | ')::tsquery as words
        from unnest(to_tsvector('simple', knowledge_words(${text})))
      ), best as (
        select entry_id, content, metadata, ts_rank_cd(search, words, ${normalization})::float8 as score
        from knowledge_entry, asked
        where client = ${client} and kb_id = ${kbId} and search @@ words and not exists (
          select from jsonb_each(${filters}::jsonb) as wanted where members -> wanted.key is distinct from wanted.value
        )
        order by score desc, entry_id limit ${rowsMax}
      ), counted as (
        select best.*, sum(octet_length(content) + octet_length(metadata)) over (
          order by score desc, entry_id rows between unbounded preceding and 1 preceding
        ) as bytes_before from best
      )
      select entry_id, content, metadata, score from counted
      where coalesce(bytes_before, 0) < ${bytesMax} order by score desc, entry_id`.execute(db);
    return rows;
  } catch (error) {
    throw findUnfit(error) ?? error;
  }
}

/** A long text is not better for being long (1), and scores lie between 0 and 1 (32). */
const normalization = 33;

function knowledgeBase(db: Db | Transaction, client: string, kbId: string) {
  return db.selectFrom("knowledge_base").selectAll().where("client", "=", client).where("kb_id", "=", kbId);
}

/** 54000: more different words than an index entry holds. 22: numbers and characters that jsonb has no room for. */
function findUnfit(error: unknown): EntryUnfit | undefined {
  const code = error instanceof pg.DatabaseError ? (error.code ?? "") : "";
  if (code === "54000") {
    return new EntryUnfit("content", error);
  }
  return code.startsWith("22") ? new EntryUnfit("metadata", error) : undefined;
}
