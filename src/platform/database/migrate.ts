// Migrates the schema with the numbered SQL files of migrations/, up only. Kysely's advisory lock keeps replicas that start
// together from racing. Migrations of a newer version stay: every migration is safe for the version before it. So both versions
// may run side by side, and either may be restarted meanwhile.

import { readdir, readFile } from "node:fs/promises";
import { sql } from "kysely";
import { type Migration, type MigrationResultSet, Migrator } from "kysely/migration";
import { Fault } from "../base/fault.ts";
import { packageRoot } from "../base/package-root.ts";
import type { Db } from "./database.ts";

const folder = new URL("migrations/", packageRoot);
/** The minimum server_version_num: Postgres 15 has all features that we use. */
const oldestServerVersion = 150_000;

/**
 * Applies the missing migrations and returns their names. Throws DATABASE_UNAVAILABLE when one fails, CONFIG_INVALID when
 * Postgres is too old.
 */
export async function migrate(db: Db): Promise<string[]> {
  await checkServerVersion(db);
  const { error, results = [] } = await applyMissing(db);
  if (error !== undefined) {
    const failed = results.find((result) => result.status === "Error")?.migrationName ?? "the migration table";
    throw new Fault("DATABASE_UNAVAILABLE", `migration failed at ${failed}: ${describe(error)}`, { cause: error });
  }
  return results.map((result) => result.migrationName);
}

/** Returns the names of this version's migrations, oldest first. */
export async function listMigrations(): Promise<string[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith(".sql")).sort();
  return files.map((file) => file.replace(/\.sql$/, ""));
}

/** Returns the version that Postgres reports, such as `18.4`. */
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

/** Adds the names of unknown newer migrations: the migrator rejects a migration table with more names than files. */
async function applyMissing(db: Db): Promise<MigrationResultSet> {
  const ours = await readMigrations();
  for (;;) {
    const newer = await listNewer(db, ours);
    const migrations = { ...ours, ...Object.fromEntries(newer.map((name) => [name, { up: refuse }])) };
    const applied = await new Migrator({ db, provider: { getMigrations: async () => migrations } }).migrateToLatest();
    // A newer process may have applied another migration meanwhile.
    if (applied.error === undefined || (await listNewer(db, ours)).length === newer.length) {
      return applied;
    }
  }
}

/** Returns the migrations that a newer version applied: their names sort after all of ours. */
async function listNewer(db: Db, ours: Readonly<Record<string, Migration>>): Promise<string[]> {
  const { rows: tables } = await sql<{ exists: boolean }>`
    select to_regclass('kysely_migration') is not null as exists`.execute(db);
  if (tables[0]?.exists !== true) {
    return [];
  }
  const newest = Object.keys(ours).at(-1) ?? "";
  const { rows } = await sql<{ name: string }>`select name from kysely_migration where name > ${newest}`.execute(db);
  return rows.map(({ name }) => name);
}

async function refuse(): Promise<never> {
  throw new Error("a migration of a newer version is applied by that version alone");
}

async function readMigrations(): Promise<Record<string, Migration>> {
  const migrations = await Promise.all(
    (await listMigrations()).map(async (name): Promise<[string, Migration]> => {
      const text = await readFile(new URL(`${name}.sql`, folder), "utf8");
      return [name, { up: (db) => apply(db, text) }];
    }),
  );
  return Object.fromEntries(migrations);
}

/** A migration may take longer than any other statement, so it runs without a statement timeout. */
async function apply(db: Db, text: string): Promise<void> {
  await sql`set local statement_timeout = 0`.execute(db);
  await sql.raw(text).execute(db);
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
