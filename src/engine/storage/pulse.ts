// What is asked of the database to learn whether it can be worked with. Nothing is changed by asking.

import type { Connection, TimeLimits } from "../../platform/database/database.ts";

/** Soon enough for whoever tells load balancers within 2 s. */
export const pulseLimits: TimeLimits = { connectMs: 1_000, statementMs: 1_000, answerMs: 1_000 };

/** Resolves when the database answers and takes writes. One that only reads refuses to lock, though there is no row. */
export async function feelPulse(client: Connection): Promise<void> {
  await client.query("select from replica where false for update");
}

/**
 * Resolves when the database's disk has room for a few blocks: so much is written to a temporary file, which is gone
 * afterwards. It costs a millisecond, and a line of Postgres' log where such files are logged, so ask when in doubt.
 */
export async function askForRoom(client: Connection): Promise<void> {
  // More rows than the least memory of a statement holds. The settings end with this one message, which is a transaction.
  await client.query(`
    set local work_mem = '64kB';
    set local temp_tablespaces = '';
    select count(*) from generate_series(1, 5000)
  `);
}
