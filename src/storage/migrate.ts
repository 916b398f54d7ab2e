// Brings the schema up to date: the numbered SQL files of migrations/, up only, under Kysely's advisory lock, so that
// replicas that start together do not race.

import { readdir, readFile } from "node:fs/promises";
import { sql } from "kysely";
import { type Migration, Migrator } from "kysely/migration";
import { Fault } from "../base/fault.ts";
import type { Db } from "./database.ts";

const folder = new URL("../../migrations/", import.meta.url);
/** Partitioned unique keys and `merge` aside, what we use is there since 15. */
const oldestServerVersion = 150_000;

/** Applies what is missing and returns the names of what was applied. */
export async function migrate(db: Db): Promise<string[]> {
  await checkServerVersion(db);
  const migrator = new Migrator({ db, provider: { getMigrations: readMigrations } });
  const { error, results = [] } = await migrator.migrateToLatest();
  if (error !== undefined) {
    const failed = results.find((result) => result.status === "Error")?.migrationName ?? "the migration table";
    throw new Fault("DATABASE_UNAVAILABLE", `migration failed at ${failed}: ${describe(error)}`, { cause: error });
  }
  return results.map((result) => result.migrationName);
}

/** As Postgres calls itself, such as `18.4`. */
export async function serverVersion(db: Db): Promise<string> {
  const { rows } = await sql<{ version: string }>`select current_setting('server_version') as version`.execute(db);
  return rows[0]?.version ?? "";
}

async function checkServerVersion(db: Db): Promise<void> {
  const { rows } = await sql<{ number: string }>`select current_setting('server_version_num') as number`.execute(db);
  const version = Number(rows[0]?.number);
  if (version >= oldestServerVersion) {
    return;
  }
  const major = Math.floor(version / 10_000);
  throw new Fault("CONFIG_INVALID", `Postgres ${major} is too old: point DATABASE_URL at Postgres 15 or newer`);
}

async function readMigrations(): Promise<Record<string, Migration>> {
  const files = (await readdir(folder)).filter((file) => file.endsWith(".sql")).sort();
  const migrations = await Promise.all(
    files.map(async (file): Promise<[string, Migration]> => {
      const text = await readFile(new URL(file, folder), "utf8");
      return [file.replace(/\.sql$/, ""), { up: (db) => apply(db, text) }];
    }),
  );
  return Object.fromEntries(migrations);
}

/** A migration may take longer than any other statement of ours. */
async function apply(db: Db, text: string): Promise<void> {
  await sql`set local statement_timeout = 0`.execute(db);
  await sql.raw(text).execute(db);
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
