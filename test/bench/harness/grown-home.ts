// A database that a client has worked in for long.

import { growTables } from "../../harness/grown-tables.ts";
import { benchClient } from "./credentials.ts";
import type { OpenHome } from "./home.ts";

const resultsPerRun = 10;

/** Adds sessions of the benches' client, with a run each. A service has to have made the tables. */
export async function growHome(home: OpenHome, sessions: number): Promise<void> {
  const connection = await home.connect();
  try {
    await growTables(connection, { client: `key/${benchClient}`, sessions, resultsPerRun });
    // Otherwise Postgres writes the new rows out during the measurement.
    await connection.query("checkpoint");
  } finally {
    await connection.end();
  }
}
