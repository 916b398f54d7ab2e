// Brings the schema up to date: the numbered SQL files of migrations/, up only, under Kysely's advisory lock, so that
// replicas that start together do not race. What a newer version has applied is left alone: every migration is safe for the
// version before it, so the two may run side by side, and either may be started again meanwhile.

import { readdir, readFile } from "node:fs/promises";
import { sql } from "kysely";
import { type Migration, type MigrationResultSet, Migrator } from "kysely/migration";
import { Fault } from "../base/fault.ts";
import { packageRoot } from "../base/package-root.ts";
import type { Db } from "./database.ts";

const folder = new URL("migrations/", packageRoot);
/** Partitioned unique keys and `merge` aside, what we use is there since 15. */
const oldestServerVersion = 150_000;

/** Applies what is missing and returns the names of what was applied. */
export async function migrate(db: Db): Promise<string[]> {
  await checkServerVersion(db);
  const { error, results = [] } = await applyMissing(db);
  if (error !== undefined) {
    const failed = results.find((result) => result.status === "Error")?.migrationName ?? "the migration table";
    throw new Fault("DATABASE_UNAVAILABLE", `migration failed at ${failed}: ${describe(error)}`, { cause: error });
  }
  return results.map((result) => result.migrationName);
}

/** What this version brings, oldest first. */
export async function listMigrations(): Promise<string[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith(".sql")).sort();
  return files.map((file) => file.replace(/\.sql$/, ""));
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

/** The migrator takes a table that names more than there are files for broken, so it is told of those names. */
async function applyMissing(db: Db): Promise<MigrationResultSet> {
  const ours = await readMigrations();
  for (;;) {
    const newer = await listNewer(db, ours);
    const migrations = { ...ours, ...Object.fromEntries(newer.map((name) => [name, { up: refuse }])) };
    const applied = await new Migrator({ db, provider: { getMigrations: async () => migrations } }).migrateToLatest();
    // A newer process may have applied another one meanwhile.
    if (applied.error === undefined || (await listNewer(db, ours)).length === newer.length) {
      return applied;
    }
  }
}

/** What a newer version has applied: its names come after all of ours. */
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

/** A migration may take longer than any other statement of ours. */
async function apply(db: Db, text: string): Promise<void> {
  await sql`set local statement_timeout = 0`.execute(db);
  await sql.raw(text).execute(db);
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
