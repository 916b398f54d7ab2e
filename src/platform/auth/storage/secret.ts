// Keys that all replicas of a cluster share. The first one to ask makes them.

import { randomBytes } from "node:crypto";
import type { Db } from "../../database/database.ts";

const keyBytes = 32;

export async function loadSecret(db: Db, name: string): Promise<Uint8Array> {
  await db
    .insertInto("secret")
    .values({ name, value: randomBytes(keyBytes) })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const row = await db.selectFrom("secret").select("value").where("name", "=", name).executeTakeFirstOrThrow();
  return row.value;
}
