// `migrate --json`: one document that lists the applied migrations.

import { expect, inject, onTestFinished, test } from "vitest";
import { createDatabase, databaseUrl, dropDatabase } from "../harness/database.ts";
import { runCommand } from "./command.ts";

test("migrate --json prints the applied migrations, and none the second time", async () => {
  const server = inject("databaseUrl");
  const name = `runnel_test_migrate_json_${process.pid}`;
  await createDatabase(server, name, undefined);
  onTestFinished(() => dropDatabase(server, name));
  const environment = { DATABASE_URL: databaseUrl(server, name) };
  const migrate = async () => {
    const { code, stdout, stderr } = await runCommand(["migrate", "--json"], { environment });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    return JSON.parse(stdout);
  };
  expect((await migrate()).applied[0]).toMatch(/^0001_/);
  expect(await migrate()).toEqual({ applied: [] });
});
