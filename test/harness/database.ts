// An empty database for each test: a clone of a migrated template, or the database of the test before.

import pg from "pg";
import { inject, onTestFinished } from "vitest";
import { emptyDatabase, fingerprint, Pool } from "./pool.ts";
import { until } from "./wait.ts";

let cloneCount = 0;

interface TestDatabase {
  readonly url: string;
  /** The fingerprint when the database was new. */
  readonly relations: string;
  readonly drop: () => Promise<void>;
}

const databases = new Pool<TestDatabase>(({ drop }) => drop());

/** Returns the URL of an empty database for one test. A connection that is still open when the test has finished fails it. */
export async function testDatabase(): Promise<string> {
  const database = databases.take("") ?? (await makeTestDatabase());
  onTestFinished(async () => {
    await expectNobodyConnected(database.url);
    if (await emptyDatabase(database.url, { relations: database.relations, replicas: [] })) {
      await databases.give("", database);
    } else {
      await database.drop();
    }
  });
  return database.url;
}

/** For tests that depend on what the server remembers about a database, such as its statistics. */
export async function ownDatabase(): Promise<string> {
  const { url, drop } = await makeTestDatabase();
  onTestFinished(drop);
  return url;
}

/** Makes a database that the caller drops. */
export async function makeTestDatabase(): Promise<TestDatabase> {
  const server = inject("databaseUrl");
  const name = `runnel_test_${process.pid}_${++cloneCount}`;
  await createDatabase(server, name, inject("templateName"));
  const url = databaseUrl(server, name);
  return { url, relations: await fingerprint(url), drop: () => dropDatabase(server, name) };
}

/** A leaked connection fails here. */
async function expectNobodyConnected(url: string): Promise<void> {
  const name = new URL(url).pathname.slice(1);
  const count = "select count(*)::int as count from pg_stat_activity where datname = $1";
  const isFree = async (): Promise<boolean> => {
    const [row] = await query<{ count: number }>(inject("databaseUrl"), count, [name]);
    return row?.count === 0;
  };
  await until("connections of the test to be closed", isFree, closedWithinMs);
}

/** The server takes a moment to notice that a client has gone. */
const closedWithinMs = 5_000;

export function databaseUrl(server: string, name: string): string {
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

export async function createDatabase(server: string, name: string, template: string | undefined): Promise<void> {
  const from = template === undefined ? "" : ` template ${pg.escapeIdentifier(template)}`;
  await onServer(server, `create database ${pg.escapeIdentifier(name)}${from}`);
}

/** Throws while a client is connected: a leaked connection fails here. */
export async function dropDatabase(server: string, name: string): Promise<void> {
  await onServer(server, `drop database if exists ${pg.escapeIdentifier(name)}`);
}

/** Runs SQL on the database of the caller, for facts that only the tables contain. */
export async function query<Row extends pg.QueryResultRow>(
  url: string,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  // A lost connection rejects the query. Without a listener, it also ends the process.
  client.on("error", () => {});
  await client.connect();
  try {
    return (await client.query<Row>(text, [...values])).rows;
  } finally {
    await client.end();
  }
}

/** Returns the URL of the same database for a user of its own, to whom the server gives at most this many connections. */
export async function limitedUser(url: string, connectionsMax: number): Promise<{ name: string; url: string }> {
  const name = `runnel_user_${process.pid}_${++cloneCount}`;
  const user = pg.escapeIdentifier(name);
  await query(
    url,
    `create role ${user} login password 'limited' connection limit ${connectionsMax};
    do $$ begin execute format('grant %I to ${user}', current_user); end $$`,
  );
  onTestFinished(async () => {
    await query(url, `drop owned by ${user}; drop role ${user}`);
  });
  const limited = new URL(url);
  limited.username = name;
  limited.password = "limited";
  return { name, url: limited.href };
}

async function onServer(server: string, statement: string): Promise<void> {
  await query(server, statement);
}
