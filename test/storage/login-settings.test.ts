// Databases, logins and environments with other defaults, which administrators set for all programs at once.

import { createServer } from "node:net";
import { sql } from "kysely";
import pg from "pg";
import { expect, inject, onTestFinished, test, vi } from "vitest";
import { type DatabaseAddress, openConnections } from "../../src/platform/database/database.ts";
import { isOutage } from "../../src/platform/database/errors.ts";
import { ownDatabase, query } from "../harness/database.ts";
import { listenLocally } from "../harness/listen.ts";
import { addSession, connect } from "../runlog/store.ts";

async function setDefaults(url: string, settings: Readonly<Record<string, string>>): Promise<void> {
  const database = pg.escapeIdentifier(new URL(url).pathname.slice(1));
  for (const [name, value] of Object.entries(settings)) {
    await query(url, `alter database ${database} set ${name} = ${pg.escapeLiteral(value)}`);
  }
}

function open(address: DatabaseAddress) {
  const connections = openConnections(address, { poolSize: 2, onConnectionError: () => {} });
  onTestFinished(connections.close);
  return connections;
}

test.each(["German", "SQL, DMY", "Postgres"])("times are exact where DateStyle is %s", async (datestyle) => {
  const url = await ownDatabase();
  await setDefaults(url, { datestyle, timezone: "Asia/Kolkata" });
  const { db } = connect(url);
  await addSession(db);
  const { create_time, shown } = await db
    .selectFrom("session")
    .select(["create_time", sql<number>`(extract(epoch from create_time) * 1000)::float8`.as("shown")])
    .executeTakeFirstOrThrow();
  expect(create_time).toEqual(new Date(shown));
});

test("a transaction sees what another one has committed, where transactions are serializable by default", async () => {
  const url = await ownDatabase();
  await setDefaults(url, { default_transaction_isolation: "serializable" });
  const { db } = connect(url);
  const seen = await db.transaction().execute(async (trx) => {
    const count = async () => (await trx.selectFrom("session").select("id").execute()).length;
    const before = await count();
    await addSession(db);
    return [before, await count()];
  });
  expect(seen).toEqual([0, 1]);
});

test("a migration's statements take their time where others are cancelled soon, and texts are as written", async () => {
  const url = await ownDatabase();
  await setDefaults(url, { statement_timeout: "50ms", standard_conforming_strings: "off" });
  const { db, close } = connect(url).connections.openPatient();
  onTestFinished(close);
  const { rows } = await sql`select ${sql.lit("a\\b")} as text, pg_sleep(0.1)`.execute(db);
  expect(rows).toMatchObject([{ text: "a\\b" }]);
});

test("a connection has its own name and limits, whatever the URL says", async () => {
  const url = new URL(inject("databaseUrl"));
  url.searchParams.set("application_name", "others");
  url.searchParams.set("statement_timeout", "1");
  const client = await open({ connectionString: url.href }).connect("probe");
  onTestFinished(() => client.end());
  const { rows } = await client.query("select current_setting('application_name') as name, pg_sleep(0.01)");
  expect(rows[0]).toMatchObject({ name: "runnel probe" });
});

test("the server is asked to notice within 35 s that our machine has died", async () => {
  const begun = Promise.withResolvers<Buffer>();
  const server = createServer((socket) => {
    socket.once("data", (packet) => {
      begun.resolve(packet);
      socket.destroy();
    });
  });
  const url = `postgres://runnel@127.0.0.1:${await listenLocally(server)}/runnel`;
  const opening = open({ connectionString: url }).connect("test");
  await expect(opening).rejects.toThrow("Connection terminated");
  const asked = (await begun.promise).toString().split("\0");
  for (const [name, value] of Object.entries({ idle: "20", interval: "5", count: "3" })) {
    expect(asked[asked.indexOf(`tcp_keepalives_${name}`) + 1]).toBe(value);
  }
});

test.each(["sslmode=require", "sslmode=prefer", "sslrootcert=system"])(
  "a server without encryption is refused with %s, as an outage and without a warning among the log lines",
  async (words) => {
    const url = new URL(inject("databaseUrl"));
    url.searchParams.delete("sslmode");
    url.search += `&${words}`;
    const warn = vi.spyOn(process, "emitWarning");
    onTestFinished(() => warn.mockRestore());
    const error = await open({ connectionString: url.href })
      .connect("test")
      .catch((reason: unknown) => reason);
    expect(error).toMatchObject({ message: "The server does not support SSL connections" });
    expect(isOutage(error)).toBe(true);
    expect(warn).not.toHaveBeenCalled();
  },
);

test("a statement that Postgres ends at the longest limit of the database may be repeated", async () => {
  const { db } = connect(await ownDatabase());
  await db.connection().execute(async (connection) => {
    // The limit of transactions is in Postgres 17 and newer.
    await sql`select set_config(max(name), '50ms', false) from pg_settings
      where name in ('statement_timeout', 'transaction_timeout')`.execute(connection);
    const error = await sql`select pg_sleep(10)`.execute(connection).catch((reason: unknown) => reason);
    expect(isOutage(error)).toBe(true);
  });
});

test("the embedded Postgres is reached where the environment asks for encryption", async () => {
  const { username, password, port, pathname, searchParams, hostname } = new URL(inject("databaseUrl"));
  vi.stubEnv("PGSSLMODE", "require");
  onTestFinished(() => void vi.unstubAllEnvs());
  const { db } = open({
    host: searchParams.get("host") ?? hostname,
    port: Number(port),
    user: username,
    password: decodeURIComponent(password),
    database: pathname.slice(1),
  });
  expect((await sql`select 1 as one`.execute(db)).rows).toEqual([{ one: 1 }]);
});
