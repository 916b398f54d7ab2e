// Statements that check whether the database works. They change nothing.

import type { Connection, TimeLimits } from "../../platform/database/database.ts";

/** Time limits that let load balancers know of an outage within 2 s. */
export const pulseLimits: TimeLimits = { connectMs: 1_000, statementMs: 1_000, answerMs: 1_000 };

/** Resolves when the database answers and takes writes. A read-only database refuses the lock even though no row matches. */
export async function feelPulse(client: Connection): Promise<void> {
  await client.query("select from replica where false for update");
}

/**
 * Resolves when the database's disk has room for a few blocks: the statement writes a temporary file, which is gone afterwards.
 * It costs a millisecond, and a line in Postgres' log if such files are logged, so call it only when in doubt.
 */
export async function askForRoom(client: Connection): Promise<void> {
  // The rows exceed the smallest memory of a statement. The message is one transaction, so the settings end with it.
  await client.query(`
    set local work_mem = '64kB';
    set local temp_tablespaces = '';
    select count(*) from generate_series(1, 5000)
  `);
}
