// A mutex of the wallet over all replicas: one transaction at a time between its signing and its sending.

import { sql } from "kysely";
import type { Db } from "../../../platform/database/database.ts";

/**
 * Tries to take the lock. Returns undefined while another holder has it.
 * It holds a connection until it is disposed of. When its process dies, Postgres releases it.
 */
export async function tryWalletLock(db: Db): Promise<AsyncDisposable | undefined> {
  const taken = Promise.withResolvers<boolean>();
  const released = Promise.withResolvers<void>();
  const held = db.connection().execute(async (connection) => {
    const { rows } = await sql<{ locked: boolean }>`
      select pg_try_advisory_lock(hashtext('runnel wallet')) as locked`.execute(connection);
    const isLocked = rows[0]?.locked === true;
    taken.resolve(isLocked);
    if (isLocked) {
      await released.promise;
      await sql`select pg_advisory_unlock(hashtext('runnel wallet'))`.execute(connection);
    }
  });
  held.catch(taken.reject);
  if (!(await taken.promise)) {
    await held;
    return undefined;
  }
  return {
    [Symbol.asyncDispose]: async () => {
      released.resolve();
      // A lost connection has already released the lock.
      await held.catch(() => {});
    },
  };
}
