// Knowledge bases, their entries, and the search in them.

import { type Selectable, sql } from "kysely";
import pg from "pg";
import { textArray } from "../../../platform/database/binary-array.ts";
import type { Db, Transaction } from "../../../platform/database/database.ts";
import type { KnowledgeBaseTable } from "./schema.ts";

/** A stored knowledge base. */
export type KnowledgeBaseRow = Selectable<KnowledgeBaseTable>;

/** Creates a knowledge base, or renames the one with its id. */
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

/** Returns a knowledge base; undefined when it is unknown. */
export async function findKnowledgeBase(db: Db, client: string, kbId: string): Promise<KnowledgeBaseRow | undefined> {
  return await knowledgeBase(db, client, kbId).executeTakeFirst();
}

/** Returns the client's knowledge bases with these ids, in any order. */
export async function findKnowledgeBases(db: Db, client: string, ids: readonly string[]): Promise<KnowledgeBaseRow[]> {
  return await db
    .selectFrom("knowledge_base")
    .selectAll()
    .where("client", "=", client)
    .where(sql<boolean>`kb_id = any(${textArray(ids)}::text[])`)
    .execute();
}

/** Returns a knowledge base and prevents its deletion until the end of the transaction. Undefined when it is unknown. */
export async function holdKnowledgeBase(
  trx: Transaction,
  client: string,
  kbId: string,
): Promise<KnowledgeBaseRow | undefined> {
  return await knowledgeBase(trx, client, kbId).forKeyShare().executeTakeFirst();
}

/** Lists knowledge bases by id. */
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

/** Deletes a knowledge base. Returns false when it is unknown. */
export async function deleteKnowledgeBase(db: Db, client: string, kbId: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom("knowledge_base")
    .where("client", "=", client)
    .where("kb_id", "=", kbId)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** A new entry. */
export interface NewEntry {
  readonly entryId: string;
  readonly content: string;
  /** The metadata as a JSON object. */
  readonly metadata: string;
}

/** The error for a text or an object that cannot be indexed for searches. */
export class EntryUnfit extends Error {
  override readonly name = "EntryUnfit";
  readonly part: "content" | "metadata";

  constructor(part: EntryUnfit["part"], cause: unknown) {
    super(`the ${part} of an entry cannot be searched`, { cause });
    this.part = part;
  }
}

/** Creates or replaces an entry. Throws EntryUnfit, after which the transaction is lost. */
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

/** Deletes entries. Returns how many of them existed. */
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

/** A search in a knowledge base. */
export interface KnowledgeQuery {
  readonly client: string;
  readonly kbId: string;
  readonly text: string;
  /** A JSON object: the members that an entry's metadata must have. */
  readonly filters: string;
  readonly rowsMax: number;
  /** The maximum bytes of contents and metadata. The entry that exceeds it is still returned. */
  readonly bytesMax: number;
}

/** An entry that matches a search. */
export interface KnowledgeHit {
  readonly entry_id: string;
  readonly content: string;
  readonly metadata: string;
  readonly score: number;
}

/** Returns the entries that have any of the words, the best first. Throws EntryUnfit for filters that no metadata can have. */
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
        order by score desc, entry_id limit ${sql.lit(rowsMax)}
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

/** Flags of ts_rank_cd: length does not make a text better (1), and scores are between 0 and 1 (32). */
const normalization = 33;

function knowledgeBase(db: Db | Transaction, client: string, kbId: string) {
  return db.selectFrom("knowledge_base").selectAll().where("client", "=", client).where("kb_id", "=", kbId);
}

/**
 * Returns undefined for other errors. 54000: more different words than an index entry holds. 22: numbers and characters that
 * jsonb cannot store.
 */
function findUnfit(error: unknown): EntryUnfit | undefined {
  const code = error instanceof pg.DatabaseError ? (error.code ?? "") : "";
  if (code === "54000") {
    return new EntryUnfit("content", error);
  }
  return code.startsWith("22") ? new EntryUnfit("metadata", error) : undefined;
}
