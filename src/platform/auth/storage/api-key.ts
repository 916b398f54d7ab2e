// Rows of API keys, found by the hash of the key.

import { type Selectable, sql } from "kysely";
import { type Db, isStorableText } from "../../database/database.ts";
import type { ApiKeyTable } from "./schema.ts";

/** An API key without its hash. */
export type ApiKeyRow = Omit<Selectable<ApiKeyTable>, "hash">;

const apiKeyColumns = ["id", "client", "display_name", "create_time", "expire_time", "revoke_time"] as const;

/** Inserts a key and returns its row. */
export async function insertApiKey(
  db: Db,
  key: { id: string; client: string; displayName: string; hash: Uint8Array; expireTime: Date | undefined },
): Promise<ApiKeyRow> {
  return await db
    .insertInto("api_key")
    .values({
      id: key.id,
      client: key.client,
      display_name: key.displayName,
      hash: Buffer.from(key.hash),
      expire_time: key.expireTime ?? null,
    })
    .returning(apiKeyColumns)
    .executeTakeFirstOrThrow();
}

const isExpired = sql<boolean>`coalesce(api_key.expire_time <= now(), false)`;

/** Whether a key is revoked or expired, by the database's clock. */
export const hasKeyEnded = sql<boolean>`(api_key.revoke_time is not null or ${isExpired})`;

/** Returns a key and whether it has expired; undefined for an unknown hash. */
export async function findApiKey(db: Db, hash: Uint8Array): Promise<(ApiKeyRow & { is_expired: boolean }) | undefined> {
  return await db
    .selectFrom("api_key")
    .select([...apiKeyColumns, isExpired.as("is_expired")])
    .where("hash", "=", Buffer.from(hash))
    .executeTakeFirst();
}

/** Returns those of the keys that are revoked or expired. */
export async function listEndedKeys(db: Db, ids: readonly string[]): Promise<{ id: string; is_revoked: boolean }[]> {
  return await db
    .selectFrom("api_key")
    .select(["id", sql<boolean>`revoke_time is not null`.as("is_revoked")])
    .where(sql<boolean>`id = any(${ids}::uuid[])`)
    .where(hasKeyEnded)
    .execute();
}

/** Returns a page of keys, newest first: ids sort by creation. */
export async function listApiKeys(
  db: Db,
  args: { client: string | undefined; before: string | undefined; limit: number },
): Promise<ApiKeyRow[]> {
  const { client, before, limit } = args;
  if (client !== undefined && !isStorableText(client)) {
    return [];
  }
  return await db
    .selectFrom("api_key")
    .select(apiKeyColumns)
    .$if(client !== undefined, (query) => query.where("client", "=", client ?? ""))
    .$if(before !== undefined, (query) => query.where("id", "<", before ?? ""))
    .orderBy("id", "desc")
    .limit(limit)
    .execute();
}

/** Revokes a key; an earlier revocation keeps its time. Returns undefined for an unknown key. */
export async function revokeApiKey(db: Db, id: string): Promise<ApiKeyRow | undefined> {
  return await db
    .updateTable("api_key")
    .set({ revoke_time: sql<Date>`coalesce(revoke_time, now())` })
    .where("id", "=", id)
    .returning(apiKeyColumns)
    .executeTakeFirst();
}
