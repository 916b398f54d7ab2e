// Opens the database of a process: the named one, or the embedded one. There is no other mode.

import { sql } from "kysely";
import { Fault } from "../base/fault.ts";
import { type ConnectionOptions, type Connections, type Db, openConnections } from "./database.ts";
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

/** Reports an unreachable database or a pooler at once, and how to name another one. */
async function probe(connections: Connections): Promise<void> {
  try {
    await assertNoPooler(connections.db);
  } catch (error) {
    await connections.close();
    const why = error instanceof Error ? error.message || String(error.cause) : String(error);
    const fix =
      error instanceof PoolerFound || poolerWords.test(why)
        ? "DATABASE_URL names a pooler such as PgBouncer, and Runnel needs Postgres itself: it listens for notifications and locks sessions"
        : "check DATABASE_URL, or leave it empty to use the embedded Postgres";
    throw new Fault("DATABASE_UNAVAILABLE", `the database cannot be used (${why}): ${fix}`, { cause: error });
  }
}

/** A pooler may be set to ignore what it does not know. Then it drops the time limits, or gives a session to several clients. */
async function assertNoPooler(db: Db): Promise<void> {
  await db.connection().execute((one) =>
    db.connection().execute(async (other) => {
      const [first, second] = [await readSession(one), await readSession(other)];
      if (first?.statement_timeout === "0") {
        throw new PoolerFound("it drops the time limits of connections");
      }
      if (first?.pid === second?.pid) {
        throw new PoolerFound("two connections share one session");
      }
    }),
  );
}

async function readSession(db: Db): Promise<{ pid: number; statement_timeout: string } | undefined> {
  const read = sql<{ pid: number; statement_timeout: string }>`
    select pg_backend_pid() as pid, current_setting('statement_timeout') as statement_timeout`;
  return (await read.execute(db)).rows[0];
}

class PoolerFound extends Error {
  override readonly name = "PoolerFound";
}

/** What PgBouncer answers to the time limits that each connection asks for. */
const poolerWords = /unsupported startup parameter/;
