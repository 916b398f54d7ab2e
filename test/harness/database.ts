// An empty database for each test: a clone of a migrated template, or the database of an earlier test.

import { randomBytes } from "node:crypto";
import pg from "pg";
import { inject, onTestFinished } from "vitest";
import { afterEachFile } from "./pool.ts";
import { PooledDatabase } from "./pooled-database.ts";

/** Not the process id: one run of the tests starts so many processes that ids come again. */
const processTag = randomBytes(6).toString("hex");
let cloneCount = 0;

/** Databases of this process that wait for the next test, also of another file. The end of the run drops them. */
const idle: PooledDatabase[] = [];

afterEachFile(async () => {
  await Promise.all(idle.map((database) => database.disconnect()));
});

/** Returns the URL of an empty database for one test. A connection that is still open when the test has finished fails it. */
export async function testDatabase(): Promise<string> {
  const database = await takeDatabase();
  onTestFinished(() => giveDatabase(database));
  return database.url;
}

/** Returns an empty database, which the caller gives back. */
export async function takeDatabase(): Promise<PooledDatabase> {
  return idle.pop() ?? (await PooledDatabase.open(await cloneTemplate()));
}

/** Keeps the database for another test, unless its schema has changed. Throws when a connection to it is open. */
export async function giveDatabase(database: PooledDatabase): Promise<void> {
  await database.expectNobodyElse();
  if (await database.empty()) {
    idle.push(database);
  } else {
    await database.disconnect();
  }
}

/** For tests that depend on what the server remembers about a database, such as its statistics. */
export async function ownDatabase(): Promise<string> {
  return await cloneTemplate();
}

/** Returns the URL of a database without any table. It is dropped with the test. */
export async function emptyDatabase(options = ""): Promise<string> {
  const server = inject("databaseUrl");
  const name = `runnel_empty_${processTag}_${++cloneCount}`;
  await onServer(server, `create database ${pg.escapeIdentifier(name)} ${options}`);
  onTestFinished(() => dropDatabase(server, name));
  return databaseUrl(server, name);
}

/** Makes a database, which the end of the run drops. */
async function cloneTemplate(): Promise<string> {
  const server = inject("databaseUrl");
  const template = inject("templateName");
  const name = `${template}_${processTag}_${++cloneCount}`;
  await createDatabase(server, name, template);
  return databaseUrl(server, name);
}

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
  const name = `runnel_user_${processTag}_${++cloneCount}`;
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
