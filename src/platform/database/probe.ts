// Inspects the database without changing anything: the server's own facts, and whether the embedded one is installed, has data,
// and runs. Nothing is started, created, migrated or stopped.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { sql } from "kysely";
import type { Clock } from "../base/clock.ts";
import { type DatabaseAddress, type Db, openConnections } from "./database.ts";
import { findPackage } from "./embedded/binaries.ts";
import { databaseName, userName } from "./embedded/login.ts";
import { defaultSystemFolder } from "./embedded/open.ts";
import { choosePlace, dataFolderOf, hasCluster } from "./embedded/place.ts";
import { isServing, readPostmaster } from "./embedded/postmaster.ts";
import { listMigrations } from "./migrate.ts";
import { type Replication, readReplication } from "./replication.ts";
import { readTimeMs } from "./time.ts";

/** Facts that the server reports. */
export interface ServerFacts {
  /** The version that Postgres reports, such as `18.4`. */
  readonly version: string;
  /** Such as 180004. */
  readonly versionNumber: number;
  readonly encoding: string;
  readonly fsync: string;
  readonly fullPageWrites: string;
  readonly synchronousCommit: string;
  /** True for a standby, which follows another server and takes no writes. */
  readonly isStandby: boolean;
  /** The maximum number of connections for users like ours: by the limit of the server, our role or the database that is next. */
  readonly connectionsMax: number;
  /** The number of current connections of other programs. */
  readonly foreignConnections: number;
}

/** How the schema differs from this version. */
export interface SchemaFacts {
  /** Migrations of this version that the database lacks. */
  readonly pending: readonly string[];
  /** Migrations of the database that this version does not know. */
  readonly unknown: readonly string[];
}

/** Everything learned about a database. */
export interface DatabaseFacts {
  readonly server: ServerFacts;
  readonly schema: SchemaFacts;
  readonly replication: Replication;
  /** How far the database's clock is ahead of this machine's, in milliseconds. */
  readonly skewMs: number;
  /** The maximum error of `skewMs`, since the query took time. */
  readonly skewErrorMs: number;
}

/** Connects and reads the facts. Throws the errors of the connection. */
export async function probeDatabase(address: DatabaseAddress, clock: Clock): Promise<DatabaseFacts> {
  const connections = openConnections(address, { poolSize: 1, onConnectionError: () => {}, acceptsStandby: true });
  try {
    const { db } = connections;
    return {
      server: await readServer(db),
      schema: await readSchema(db),
      replication: await readReplication(db),
      ...(await readSkew(db, clock)),
    };
  } finally {
    await connections.close();
  }
}

/** Facts about the embedded Postgres. */
export interface EmbeddedFacts {
  readonly version: string;
  readonly home: string;
  /** The major version of the data; undefined without data. */
  readonly dataVersion: string | undefined;
  /** The address of the running server; undefined while it does not run. */
  readonly address: DatabaseAddress | undefined;
}

/** Throws a Fault when the programs are not installed, or the data cannot be reached. */
export function probeEmbedded(directory: string): EmbeddedFacts {
  const { version } = findPackage();
  const { home } = choosePlace(directory, defaultSystemFolder);
  if (!hasCluster(home)) {
    return { version, home, dataVersion: undefined, address: undefined };
  }
  const dataFolder = dataFolderOf(home);
  const dataVersion = readFileSync(join(dataFolder, "PG_VERSION"), "utf8").trim();
  const postmaster = readPostmaster(dataFolder);
  if (postmaster?.address === undefined || !isServing(postmaster.pid, dataFolder)) {
    return { version, home, dataVersion, address: undefined };
  }
  const password = readFileSync(join(home, "password"), "utf8").trim();
  const address = { ...postmaster.address, user: userName, password, database: databaseName };
  return { version, home, dataVersion, address };
}

async function readServer(db: Db): Promise<ServerFacts> {
  const { rows } = await sql<ServerFacts>`
    select
      current_setting('server_version') as version,
      current_setting('server_version_num')::int as "versionNumber",
      current_setting('server_encoding') as encoding,
      current_setting('fsync') as fsync,
      current_setting('full_page_writes') as "fullPageWrites",
      current_setting('synchronous_commit') as "synchronousCommit",
      pg_is_in_recovery() as "isStandby",
      bound.most as "connectionsMax", taken as "foreignConnections"
    from (
      select current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
        - coalesce(current_setting('reserved_connections', true), '0')::int, null, null
      union all select rolconnlimit, rolname, null from pg_roles where rolname = current_user
      union all select datconnlimit, null, datname from pg_database where datname = current_database()
    ) as bound (most, role, database)
    cross join lateral (
      select count(*)::int from pg_stat_activity
      where backend_type = 'client backend' and application_name not like 'runnel%'
        and usename = coalesce(role, usename) and datname = coalesce(database, datname)
    ) as found (taken)
    where most >= 0
    order by most - taken limit 1
  `.execute(db);
  const [facts] = rows;
  if (facts === undefined) {
    throw new Error("the database answered without a row");
  }
  return facts;
}

async function readSchema(db: Db): Promise<SchemaFacts> {
  const brought = await listMigrations();
  const applied = await readApplied(db);
  return {
    pending: brought.filter((name) => !applied.includes(name)),
    unknown: applied.filter((name) => !brought.includes(name)),
  };
}

/** Reads the migrator's own table, which a new database does not have. */
async function readApplied(db: Db): Promise<string[]> {
  const { rows } = await sql<{ exists: boolean }>`select to_regclass('kysely_migration') is not null as exists`.execute(
    db,
  );
  if (rows[0]?.exists !== true) {
    return [];
  }
  const applied = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(db);
  return applied.rows.map(({ name }) => name);
}

/** The database read its clock at some time between question and answer; the middle is the best estimate. */
async function readSkew(db: Db, clock: Clock): Promise<{ skewMs: number; skewErrorMs: number }> {
  const askedMs = clock.nowMs();
  const shownMs = await readTimeMs(db);
  const answeredMs = clock.nowMs();
  return { skewMs: shownMs - (askedMs + answeredMs) / 2, skewErrorMs: (answeredMs - askedMs) / 2 };
}
