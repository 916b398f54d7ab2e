// The database of a process: the one that is named, or the embedded one. There is no other mode.

import { type ConnectionOptions, type Connections, openConnections } from "./database.ts";
import { openEmbeddedPostgres } from "./embedded/open.ts";

export interface OpenDatabase {
  readonly connections: Connections;
  /** Where the embedded Postgres keeps its data; undefined when another database was named. */
  readonly directory: string | undefined;
  /** Closes the connections first and stops Postgres last, if nobody else uses it. */
  close(): Promise<void>;
}

export interface DatabaseChoice extends ConnectionOptions {
  /** A connection URL; empty means the embedded Postgres. */
  readonly url: string;
  readonly directory: string;
  readonly onProgress?: (message: string) => void;
}

export async function openDatabase(choice: DatabaseChoice): Promise<OpenDatabase> {
  if (choice.url !== "") {
    const connections = openConnections({ connectionString: choice.url }, choice);
    return { connections, directory: undefined, close: () => connections.close() };
  }
  const { directory, onProgress } = choice;
  const embedded = await openEmbeddedPostgres({ directory, ...(onProgress && { onProgress }) });
  const connections = openConnections(embedded.login, choice);
  return {
    connections,
    directory: embedded.directory,
    close: async () => {
      await connections.close();
      await embedded.stop();
    },
  };
}
