// Data of another major version of Postgres: refused with the steps to move it, and left unchanged.

import { chmodSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { Fault } from "../../src/platform/base/fault.ts";
import { type EmbeddedOptions, openEmbeddedPostgres } from "../../src/platform/database/embedded/open.ts";
import { query } from "../harness/database.ts";

/** A folder that the account of Postgres can enter. */
function makeFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "runnel-upgrade-")));
  chmodSync(folder, 0o755);
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

test("a directory of another major version is refused with both versions and the steps, and opens again with its own", async () => {
  const folder = makeFolder();
  const options: EmbeddedOptions = { directory: join(folder, "data"), systemFolder: join(folder, "system") };
  const first = await openEmbeddedPostgres(options);
  await query(first.connectionString, "create table kept as select 42 as answer");
  await first.stop();
  const versionFile = join(first.directory, "postgres", "PG_VERSION");
  const version = readFileSync(versionFile, "utf8");
  writeFileSync(versionFile, "17\n");

  const refusal: unknown = await openEmbeddedPostgres(options).catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(Fault);
  const { message } = refusal as Fault;
  expect(message).toContain(`${join(first.directory, "postgres")} holds data of Postgres 17`);
  expect(message).toContain(`brings Postgres ${version.trim()}`);
  expect(message).toMatch(/1\. Start the version .*dump.*2\. Stop it.*3\. Restore.*docs\/operations\/backup\.md/s);
  expect(message).toContain("DATABASE_URL");

  writeFileSync(versionFile, version);
  await using again = await openEmbeddedPostgres(options);
  expect(again.initialised).toBe(false);
  expect(await query(again.connectionString, "select answer from kept")).toEqual([{ answer: 42 }]);
});

// How a dump is restored into a new directory: an open connection keeps the server running after the service has left.
test("a server with an open connection outlives the service, and its database can be replaced", async () => {
  const folder = makeFolder();
  const options: EmbeddedOptions = { directory: join(folder, "data"), systemFolder: join(folder, "system") };
  const service = await openEmbeddedPostgres(options);
  const client = new pg.Client({ ...service.login, database: "postgres" });
  await client.connect();
  await service.stop();
  await client.query("drop database runnel");
  await client.query("create database runnel");
  const restored = new pg.Client(service.login);
  await restored.connect();
  await restored.query("create table restored as select 42 as answer");
  await restored.end();
  await using next = await openEmbeddedPostgres(options);
  expect(next.startedHere).toBe(false);
  await client.end();
  expect(await query(next.connectionString, "select answer from restored")).toEqual([{ answer: 42 }]);
});
