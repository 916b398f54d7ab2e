// Opens the database of a process: the named one, or the embedded one. There is no other mode.

import { sql } from "kysely";
import { Fault } from "../base/fault.ts";
import { type ConnectionOptions, type Connections, openConnections } from "./database.ts";
import { openEmbeddedPostgres } from "./embedded/open.ts";

/** An open database. */
export interface OpenDatabase {
  readonly connections: Connections;
  /** The data directory of the embedded Postgres; undefined for a named database. */
  readonly directory: string | undefined;
  /** True when the embedded Postgres was running without users. */
  readonly isAdopted: boolean;
  /** Closes the connections first, and then stops the embedded Postgres unless other processes use it. */
  close(): Promise<void>;
}

/** Which database to open, and how. */
export interface DatabaseChoice extends ConnectionOptions {
  /** A connection URL; empty selects the embedded Postgres. */
  readonly url: string;
  readonly directory: string;
  readonly onProgress?: (message: string) => void;
  /** Ends the wait for the embedded Postgres to start. */
  readonly signal?: AbortSignal;
}

/** Opens the database. Throws DATABASE_UNAVAILABLE when it cannot be used. */
export async function openDatabase(choice: DatabaseChoice): Promise<OpenDatabase> {
  if (choice.url !== "") {
    const connections = openConnections({ connectionString: choice.url }, choice);
    await probe(connections);
    return { connections, directory: undefined, isAdopted: false, close: () => connections.close() };
  }
  const { directory, onProgress, signal } = choice;
  const embedded = await openEmbeddedPostgres({
    directory,
    ...(onProgress && { onProgress }),
    ...(signal && { signal }),
  });
  const connections = openConnections(embedded.login, choice);
  return {
    connections,
    directory: embedded.directory,
    isAdopted: embedded.isAdopted,
    close: async () => {
      await connections.close();
      await embedded.stop();
    },
  };
}

/** Reports an unreachable database at once, and how to name another one. */
async function probe(connections: Connections): Promise<void> {
  try {
    await sql`select 1`.execute(connections.db);
  } catch (error) {
    await connections.close();
    const why = error instanceof Error ? error.message || String(error.cause) : String(error);
    const fix = poolerWords.test(why)
      ? "DATABASE_URL names a pooler such as PgBouncer, and Runnel needs Postgres itself: it listens for notifications and locks sessions"
      : "check DATABASE_URL, or leave it empty to use the embedded Postgres";
    throw new Fault("DATABASE_UNAVAILABLE", `the database cannot be used (${why}): ${fix}`, { cause: error });
  }
}

/** What PgBouncer answers to the time limits that each connection asks for. */
const poolerWords = /unsupported startup parameter/;
