// Savepoints: a part of a transaction that can fail alone.

import { sql } from "kysely";
import type { Transaction } from "./database.ts";

/** Undoes what `work` has written when it throws, and rethrows. The transaction can continue. */
export async function inSavepoint<T>(trx: Transaction, work: () => Promise<T>): Promise<T> {
  await sql`savepoint part`.execute(trx);
  try {
    const result = await work();
    await sql`release savepoint part`.execute(trx);
    return result;
  } catch (error) {
    await sql`rollback to savepoint part`.execute(trx);
    throw error;
  }
}
