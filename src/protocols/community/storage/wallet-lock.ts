// One transaction of the wallet at a time over the whole cluster, between its signing and its sending.

import { sql } from "kysely";
import type { Db } from "../../../platform/database/database.ts";

/** Undefined while somebody else has it. Holds a connection until it is disposed of; a process that dies gives it back. */
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
      // A connection that was lost has given the lock back already.
      await held.catch(() => {});
    },
  };
}
