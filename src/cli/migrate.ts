// `runnel migrate`: brings the schema up to date and says what it did.

import type { Command } from "commander";
import { loadConfig } from "../config/load.ts";
import { migrate } from "../storage/migrate.ts";
import { openDatabase } from "../storage/open.ts";

export function addMigrate(program: Command): void {
  program
    .command("migrate")
    .description("bring the database's schema up to date")
    .action(async () => {
      const config = loadConfig(process.env);
      const database = await openDatabase({
        url: config.databaseUrl,
        directory: config.databaseDir,
        poolSize: config.databasePoolSize,
        onConnectionError: () => {},
        onProgress: (message) => console.error(message),
      });
      try {
        const applied = await migrate(database.connections.db);
        console.log(applied.length === 0 ? "up to date" : applied.map((name) => `applied ${name}`).join("\n"));
      } finally {
        await database.close();
      }
    });
}
