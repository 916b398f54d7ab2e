// A database of its own for each test file, cloned from a migrated template.

import pg from "pg";
import { inject, onTestFinished } from "vitest";

let cloneCount = 0;

/** URL of a fresh database that is dropped when the test has finished. Open connections at that time fail the test. */
export async function testDatabase(): Promise<string> {
  const server = inject("databaseUrl");
  const name = `runnel_test_${process.pid}_${++cloneCount}`;
  await createDatabase(server, name, inject("templateName"));
  onTestFinished(() => dropDatabase(server, name));
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

/** Refuses while somebody is connected: a leaked connection shows here. */
export async function dropDatabase(server: string, name: string): Promise<void> {
  await onServer(server, `drop database if exists ${pg.escapeIdentifier(name)}`);
}

/** Runs SQL on a database of the caller's, for what only the tables can tell. */
export async function query<Row extends pg.QueryResultRow>(
  url: string,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(text, [...values])).rows;
  } finally {
    await client.end();
  }
}

/** URL of the same database for a user of its own, whom the server gives so many connections and no more. */
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
