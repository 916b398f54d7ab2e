// Limits maintenance to one pass at a time across all replicas.

import { sql } from "kysely";
import type { Db } from "./database.ts";

/** Runs a pass of this work unless another replica runs one. Returns false when it did not run. */
export async function withMaintenanceLock(
  db: Db,
  pass: (db: Db) => Promise<void>,
  work = "maintenance",
): Promise<boolean> {
  const key = sql`hashtext(${`runnel ${work}`})`;
  return await db.connection().execute(async (connection) => {
    const { rows } = await sql<{ locked: boolean }>`
      select pg_try_advisory_lock(${key}) as locked`.execute(connection);
    if (rows[0]?.locked !== true) {
      return false;
    }
    try {
      await pass(connection);
      return true;
    } finally {
      await sql`select pg_advisory_unlock(${key})`.execute(connection);
    }
  });
}
