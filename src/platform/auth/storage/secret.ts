// Keys that all replicas share. The first replica that needs a key creates it.

import { randomBytes } from "node:crypto";
import type { Db } from "../../database/database.ts";

const keyBytes = 32;

/** Returns a shared key; creates it when it is missing. */
export async function loadSecret(db: Db, name: string): Promise<Uint8Array> {
  await db
    .insertInto("secret")
    .values({ name, value: randomBytes(keyBytes) })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const row = await db.selectFrom("secret").select("value").where("name", "=", name).executeTakeFirstOrThrow();
  return row.value;
}
