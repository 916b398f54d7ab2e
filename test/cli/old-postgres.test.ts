// A server that says that it is Postgres 12: a real one, in whose database a function of the test is found before the one that tells the
// version. Each command says so, names the fix, and changes nothing.

import { expect, test } from "vitest";
import { emptyDatabase, query } from "../harness/database.ts";
import { runCommand } from "./command.ts";

async function openOldServer(): Promise<string> {
  const url = await emptyDatabase();
  await query(url, "create schema old");
  await query(
    url,
    `create function old.current_setting(name text) returns text language sql stable as $$
      select case name when 'server_version' then '12.22' when 'server_version_num' then '120022'
        else pg_catalog.current_setting(name) end $$`,
  );
  await query(
    url,
    `do $$ begin
      execute format('alter database %I set search_path = old, pg_catalog, public', current_database());
    end $$`,
  );
  return url;
}

const listTables = async (url: string) =>
  await query(url, "select relname from pg_class where relnamespace = 'public'::regnamespace");

test.each([
  ["migrate", []],
  ["serve", ["--port", "0"]],
] as const)("%s refuses it, and leaves the database as it is", async (command, flags) => {
  const url = await openOldServer();
  const RUNNEL_AUTH_HMAC_SECRET = "a-secret-of-this-test-and-no-other";
  const environment = { DATABASE_URL: url, RUNNEL_AUTH_HMAC_SECRET, RUNNEL_DEFAULTS_MODEL: "demo" };
  const { code, stderr } = await runCommand([command, ...flags], { environment });
  expect(code).not.toBe(0);
  expect(stderr).toContain("Postgres 12 is too old: point DATABASE_URL at Postgres 15 or newer");
  expect(await listTables(url)).toEqual([]);
});

test("doctor reports it with its version and the fix", async () => {
  const url = await openOldServer();
  const { code, stdout } = await runCommand(["doctor", "--json", "--port", "0"], {
    environment: { DATABASE_URL: url },
  });
  expect(code).toBe(1);
  const { checks } = JSON.parse(stdout) as { checks: { name: string }[] };
  expect(checks.find(({ name }) => name === "database")).toMatchObject({
    outcome: "fail",
    found: expect.stringContaining("Postgres 12.22"),
    fix: "use Postgres 15 or newer",
  });
  expect(await listTables(url)).toEqual([]);
});
