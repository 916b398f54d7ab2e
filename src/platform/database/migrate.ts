// Migrates the schema with the numbered SQL files of migrations/, up only. Kysely's advisory lock keeps replicas that start
// together from racing. Migrations of a newer version stay: every migration is safe for the version before it. So both versions
// may run side by side, and either may be restarted meanwhile. Replicas write during a migration: it holds the locks of one file
// at a time, and waits only briefly for them.

import { readdir, readFile } from "node:fs/promises";
import { sql } from "kysely";
import { type Migration, Migrator } from "kysely/migration";
import { systemClock } from "../base/clock.ts";
import { hasErrorCode } from "../base/error-code.ts";
import { Fault } from "../base/fault.ts";
import { packageRoot } from "../base/package-root.ts";
import type { Connections, Db } from "./database.ts";
import { isLostRace } from "./errors.ts";

const folder = new URL("migrations/", packageRoot);
/** The minimum server_version_num: Postgres 15 has all features that we use. */
const oldestServerVersion = 150_000;
/**
 * How long a migration waits for a lock: all later statements on the table wait behind it. This is less than Postgres'
 * deadlock_timeout, so that a deadlock ends the migration's attempt and not the statement of a replica.
 */
const lockTimeoutMs = 500;
const lockRetryMs = 500;
/** Some two minutes: longer than a statement, shorter than a backup. */
const lockAttemptsMax = 120;

/**
 * Applies the missing migrations and returns their names. Throws DATABASE_UNAVAILABLE when one fails, CONFIG_INVALID when
 * Postgres is too old, or the database cannot hold every text.
 */
export async function migrate(connections: Connections): Promise<string[]> {
  await checkServer(connections.db);
  if (await isUpToDate(connections.db)) {
    return [];
  }
  const { db, close } = connections.openPatient();
  return await applyMissing(db).finally(close);
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

async function checkServer(db: Db): Promise<void> {
  const { rows } = await sql<{ number: string; encoding: string }>`
    select current_setting('server_version_num') as number, current_setting('server_encoding') as encoding`.execute(db);
  const version = Number(rows[0]?.number);
  if (!(version >= oldestServerVersion)) {
    const major = Math.floor(version / 10_000);
    throw new Fault("CONFIG_INVALID", `Postgres ${major} is too old: point DATABASE_URL at Postgres 15 or newer`);
  }
  const { encoding = "" } = rows[0] ?? {};
  if (lacksCharacters(encoding)) {
    const message = `the database has the encoding ${encoding}, which lacks characters: create one with encoding UTF8`;
    throw new Fault("CONFIG_INVALID", message);
  }
}

/** Returns whether an encoding of a database cannot hold every text. SQL_ASCII holds all bytes, and its searches know ASCII alone. */
export function lacksCharacters(encoding: string): boolean {
  return encoding !== "UTF8" && encoding !== "SQL_ASCII";
}

/** One statement spares most starts the migrator: a connection of its own, ten statements, and the texts of all migrations. */
async function isUpToDate(db: Db): Promise<boolean> {
  const ours = await listMigrations();
  const newest = ours.at(-1) ?? "";
  const applied = (await listApplied(db)).filter((name) => name <= newest);
  return JSON.stringify(applied) === JSON.stringify(ours);
}

/** Applies each migration in a transaction of its own. Repeats one that does not get its locks. */
async function applyMissing(db: Db): Promise<string[]> {
  const ours = await readMigrations();
  const schema = await findSchema(db);
  const applied: string[] = [];
  for (let attempt = 1; ; ) {
    // The migrator rejects a migration table with more names than files.
    const newer = await listNewer(db, ours);
    const migrations = { ...ours, ...Object.fromEntries(newer.map((name) => [name, { up: refuse }])) };
    const provider = { getMigrations: async () => migrations };
    const { error, results = [] } = await new Migrator({ db, provider, ...schema }).migrateUp();
    if (error === undefined) {
      if (results.length === 0) {
        return applied;
      }
      applied.push(...results.map(({ migrationName }) => migrationName));
      attempt = 1;
    } else if (isLostRace(error) && attempt < lockAttemptsMax) {
      attempt++;
      await systemClock.sleep(lockRetryMs);
      // A newer process may have applied another migration meanwhile.
    } else if ((await listNewer(db, ours)).length === newer.length) {
      const failed = results.find(({ status }) => status === "Error")?.migrationName ?? "the migration table";
      throw new Fault("DATABASE_UNAVAILABLE", `migration failed at ${failed}: ${describe(error)}`, { cause: error });
    }
  }
}

/**
 * Returns the schema of the migration table, or the one in which it is to be made. Without it the migrator takes a table of any schema for
 * its own, such as that of another program or of another service of Runnel in the same database.
 */
async function findSchema(db: Db): Promise<{ migrationTableSchema?: string }> {
  const { rows } = await sql<{ name: string | null }>`
    select coalesce((
      select nspname from pg_class join pg_namespace on pg_namespace.oid = relnamespace
      where pg_class.oid = to_regclass('kysely_migration')
    ), current_schema())::text as name`.execute(db);
  const name = rows[0]?.name ?? undefined;
  return name === undefined ? {} : { migrationTableSchema: name };
}

/** Returns the migrations that a newer version applied: their names sort after all of ours. */
async function listNewer(db: Db, ours: Readonly<Record<string, Migration>>): Promise<string[]> {
  const newest = Object.keys(ours).at(-1) ?? "";
  return (await listApplied(db)).filter((name) => name > newest);
}

async function listApplied(db: Db): Promise<string[]> {
  try {
    const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name collate "C"`.execute(
      db,
    );
    return rows.map(({ name }) => name);
  } catch (error) {
    if (hasErrorCode(error, undefinedTable)) {
      return [];
    }
    throw error;
  }
}

/** The SQLSTATE of a database that was never migrated. */
const undefinedTable = "42P01";

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

async function apply(db: Db, text: string): Promise<void> {
  await sql`select set_config('lock_timeout', ${`${lockTimeoutMs}ms`}, true)`.execute(db);
  await sql.raw(text).execute(db);
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
