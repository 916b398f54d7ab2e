// The files that configurations of runners name.

import { type Selectable, sql } from "kysely";
import { type Db, isStorableText } from "../../../platform/database/database.ts";
import type { ConfigFileTable } from "./schema.ts";

interface FileName {
  readonly client: string;
  readonly fileKey: string;
}

/** Creates or replaces a file. */
export async function putConfigFile(
  db: Db,
  { client, fileKey, mimeType, content }: FileName & { mimeType: string | undefined; content: Uint8Array },
): Promise<void> {
  const kept = { mime_type: mimeType ?? null, content: Buffer.from(content) };
  await db
    .insertInto("config_file")
    .values({ client, file_key: fileKey, ...kept })
    .onConflict((conflict) =>
      conflict.columns(["client", "file_key"]).doUpdateSet({ ...kept, update_time: sql<Date>`now()` }),
    )
    .execute();
}

/** Returns a file with its content; undefined when it is unknown. */
export async function readConfigFile(
  db: Db,
  { client, fileKey }: FileName,
): Promise<Pick<Selectable<ConfigFileTable>, "mime_type" | "content"> | undefined> {
  if (!isStorableText(fileKey)) {
    return undefined;
  }
  return await db
    .selectFrom("config_file")
    .select(["mime_type", "content"])
    .where("client", "=", client)
    .where("file_key", "=", fileKey)
    .executeTakeFirst();
}

/** A stored file without its content. */
export interface ConfigFileRow {
  readonly file_key: string;
  readonly mime_type: string | null;
  readonly size_bytes: number;
  readonly update_time: Date;
}

/** Lists files by key. */
export async function listConfigFiles(
  db: Db,
  { client, after, limit }: { client: string; after: string | undefined; limit: number },
): Promise<ConfigFileRow[]> {
  let query = db
    .selectFrom("config_file")
    .select(["file_key", "mime_type", "update_time", sql<number>`octet_length(content)`.as("size_bytes")])
    .where("client", "=", client)
    .orderBy(sql`file_key collate "C"`)
    .limit(limit);
  if (after !== undefined) {
    query = query.where(sql`file_key collate "C"`, ">", after);
  }
  return await query.execute();
}

/** Deletes a file. Returns false when it is unknown. */
export async function deleteConfigFile(db: Db, { client, fileKey }: FileName): Promise<boolean> {
  if (!isStorableText(fileKey)) {
    return false;
  }
  const { numDeletedRows } = await db
    .deleteFrom("config_file")
    .where("client", "=", client)
    .where("file_key", "=", fileKey)
    .executeTakeFirst();
  return numDeletedRows === 1n;
}
