// Statements that check whether the database works. They change no row.

import type { Connection, TimeLimits } from "../../platform/database/database.ts";

/** Time limits that let load balancers know of an outage within 2 s. */
export const probeLimits: TimeLimits = { connectMs: 1_000, statementMs: 1_000, answerMs: 1_000 };

/**
 * Resolves when the database answers, takes writes and commits them. A read-only database refuses the lock even though no row
 * matches. The message is 60 bytes of write-ahead log that nothing reads: its commit waits for a synchronous standby, as every
 * commit does.
 */
export async function runProbe(client: Connection): Promise<void> {
  await client.query("select from replica where false for update; select pg_logical_emit_message(true, 'runnel', '')");
}

/** Returns the process of the server that serves a connection. */
export async function readProcessId(client: Connection): Promise<number> {
  const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
  return rows[0]?.pid ?? 0;
}

/** Ends the process of an earlier probe, which may wait for a standby for as long as that is away. */
export async function endProbe(client: Connection, processId: number): Promise<void> {
  await client.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where pid = $1 and application_name = 'runnel probe'",
    [processId],
  );
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
