// Each protocol can be deleted: without its folder and its line in the list, what remains type-checks, starts and does a run.

import { execFile } from "node:child_process";
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { protocols } from "../../src/app/protocols.ts";
import { testDatabase } from "../harness/database.ts";

const run = promisify(execFile);
const root = join(import.meta.dirname, "../..");
/** A type check of the whole service, and a start. */
const deletionTimeoutMs = 120_000;

test.each(protocols.map(({ name }) => name))("without %s", { timeout: deletionTimeoutMs }, async (name) => {
  const copy = await copyWithout(name);
  const { stdout } = await run(join(root, "node_modules/.bin/tsc"), ["--project", "tsconfig.deletion.json"], {
    cwd: copy,
    timeout: deletionTimeoutMs,
  }).catch((error: { stdout: string }) => error);
  expect(stdout).toBe("");
  const script = join(copy, "one-run.ts");
  await writeFile(script, oneRun);
  const started = await run(process.execPath, [script], {
    cwd: copy,
    env: { ...process.env, TEST_URL: await testDatabase() },
    timeout: deletionTimeoutMs,
  });
  expect(started.stdout).toBe("completed\n");
});

/** The service alone: commands of a protocol are in src/cli, and go with it by hand. */
async function copyWithout(name: string): Promise<string> {
  const copy = await mkdtemp(join(tmpdir(), "runnel-deletion-"));
  onTestFinished(() => rm(copy, { recursive: true }));
  for (const each of ["src", "migrations", "package.json", "tsconfig.json", "types"]) {
    await cp(join(root, each), join(copy, each), { recursive: true });
  }
  for (const each of ["gen", "node_modules"]) {
    await symlink(join(root, each), join(copy, each));
  }
  await rm(join(copy, "src/protocols", name), { recursive: true });
  const list = join(copy, "src/app/protocol-list.ts");
  const lines = (await readFile(list, "utf8")).split("\n");
  const others = lines.filter((line) => !line.includes(`"../protocols/${name}/protocol.ts"`));
  expect(others).toHaveLength(lines.length - 1);
  await writeFile(list, others.join("\n"));
  await writeFile(
    join(copy, "tsconfig.deletion.json"),
    JSON.stringify({ extends: "./tsconfig.json", include: ["src/app/app.ts", "types"], exclude: [] }),
  );
  return copy;
}

const oneRun = `
import { openApp } from "./src/app/app.ts";
import { loadConfig } from "./src/platform/config/load.ts";
import { createLogger } from "./src/platform/telemetry/logger.ts";

const config = loadConfig({}, {
  databaseUrl: process.env.TEST_URL ?? "",
  serverHost: "127.0.0.1",
  serverPort: 0,
  sessionsWorkRoot: import.meta.dirname + "/work",
  defaultModel: "demo",
  databasePoolSize: 4,
});
const app = await openApp({ config, logger: createLogger("silent") });
const api = "http://127.0.0.1:" + app.port + "/v1/sessions";
const post = async (path: string, body: object) => {
  const response = await fetch(api + path, { method: "POST", body: JSON.stringify(body) });
  return await response.json() as Record<string, string>;
};
const { session_id: id } = await post("", { agent: { name: "demo" } });
await post("/" + id + "/messages", { message: "words=3 pace=0" });
for (;;) {
  const { status } = await (await fetch(api + "/" + id)).json() as { status: string };
  if (status !== "running" && status !== "created") {
    process.stdout.write(status + "\\n");
    break;
  }
}
await app.close();
`;
