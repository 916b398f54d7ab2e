// A database that a client has worked in for long.

import type pg from "pg";
import { growTables } from "../../harness/grown-tables.ts";
import { benchClient } from "./credentials.ts";
import type { OpenHome } from "./home.ts";

const resultsPerRun = 10;

/**
 * Adds sessions of the benches' client, with a run each. A service has to have made the tables, and has to have ended. What the service
 * would delete at once is left out: that would take a core for minutes.
 */
export async function growHome(home: OpenHome, sessions: number): Promise<void> {
  const connection = await home.connect();
  try {
    const indexes = await dropIndexes(connection);
    await growTables(connection, { client: `key/${benchClient}`, sessions, resultsPerRun });
    await connection.query("truncate checkpoint, tool_call");
    await connection.query("set maintenance_work_mem = '1GB'");
    await connection.query(indexes.join(";"));
    await connection.query("vacuum analyze");
    // Otherwise Postgres writes the new rows out during the measurement.
    await connection.query("checkpoint");
  } finally {
    await connection.end();
  }
}

/** Drops the indexes that keep no constraint, and returns the statements that make them again: so a million rows take half the time. */
async function dropIndexes(connection: pg.Client): Promise<string[]> {
  const { rows } = await connection.query<{ name: string; definition: string }>(`
    select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition
    from pg_index join pg_class on pg_class.oid = indrelid
    where relnamespace = 'public'::regnamespace and relkind = 'r' and not indisunique`);
  for (const { name } of rows) {
    await connection.query(`drop index ${name}`);
  }
  return rows.map(({ definition }) => definition);
}
