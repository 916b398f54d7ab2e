// Small JSON values that runs keep, by owner. The last write of a key counts.

import { sql } from "kysely";
import { type Db, isStorableText, type Transaction } from "../../../platform/database/database.ts";

/** The owner of the state, a key of `runners/scope.ts`, and the key of the value. */
export interface StateKey {
  readonly owner: Uint8Array;
  readonly key: string;
}

/** Returns the value as it was written; undefined when it is missing. */
export async function findStateValue(db: Db | Transaction, { owner, key }: StateKey): Promise<string | undefined> {
  const row = await db
    .selectFrom("state_value")
    .select("value")
    .where("owner", "=", Buffer.from(owner))
    .where("key", "=", key)
    .executeTakeFirst();
  return row?.value;
}

/** Stores a value. */
export async function setStateValue(
  trx: Transaction,
  { owner, key, client, value }: StateKey & { readonly client: string; readonly value: string },
): Promise<void> {
  await trx
    .insertInto("state_value")
    .values({ owner: Buffer.from(owner), key, client, value })
    .onConflict((conflict) =>
      conflict.columns(["owner", "key"]).doUpdateSet({ value, update_time: sql<Date>`clock_timestamp()` }),
    )
    .execute();
}

/** Deletes a value. Returns false when it was missing. */
export async function deleteStateValue(trx: Transaction, { owner, key }: StateKey): Promise<boolean> {
  const { numDeletedRows } = await trx
    .deleteFrom("state_value")
    .where("owner", "=", Buffer.from(owner))
    .where("key", "=", key)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** Lists the keys that start with the prefix, in the order of their bytes. */
export async function listStateKeys(
  db: Db,
  { owner, prefix, limit }: { owner: Uint8Array; prefix: string; limit: number },
): Promise<string[]> {
  if (!isStorableText(prefix)) {
    return [];
  }
  const { rows } = await sql<{ key: string }>`
    select key from state_value where owner = ${Buffer.from(owner)} and starts_with(key, ${prefix})
    order by key collate "C" limit ${limit}`.execute(db);
  return rows.map(({ key }) => key);
}
