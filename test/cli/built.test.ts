// What could break in the built program but not in its source: packages, files and threads that code looks for beside itself,
// and stack traces.

import { readdir, readFile, writeFile } from "node:fs/promises";
import { builtinModules } from "node:module";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { version } from "../../src/platform/base/version.ts";
import { answer, callTools } from "../fakes/provider.ts";
import { openProvider } from "../fault/cluster.ts";
import { testDatabase } from "../harness/database.ts";
import { GrpcClient } from "../harness/grpc.ts";
import { startProcess } from "../harness/process.ts";
import { programPath } from "../harness/program.ts";
import { ownFolder, runCommand } from "./command.ts";

test("the tests run the built program, which prints its version", async () => {
  expect(programPath).toMatch(/\.js$/);
  expect(await runCommand(["--version"])).toEqual({ code: 0, stdout: `runnel ${version}\n`, stderr: "" });
});

test("it has the licence of each package in it, and imports no package", async () => {
  const folder = dirname(programPath);
  const licenses = await readFile(join(folder, "THIRD-PARTY-LICENSES"), "utf8");
  expect(licenses).toContain("MIT");
  expect(licenses).toContain("@connectrpc/connect-node");
  const files = (await readdir(folder)).filter((name) => name.endsWith(".js"));
  const texts = await Promise.all(files.map((name) => readFile(join(folder, name), "utf8")));
  // A file with others takes twice the memory.
  expect(texts.filter((text) => /[^\0-\xff]/.test(text))).toEqual([]);
  const imported = texts.flatMap((text) => [...text.matchAll(/^(?:import|export) .*?from "([^".][^"]*)";$/gm)]);
  expect(imported.length).toBeGreaterThan(100);
  const known = new Set(builtinModules.map((name) => `node:${name}`));
  expect(
    imported.map(([, name = ""]) => name).filter((name) => !known.has(name) && !builtinModules.includes(name)),
  ).toEqual([]);
});

test("a search of an agent is answered by the search thread", async () => {
  const { provider, environment } = await openProvider();
  const { url } = await startProcess({ ...environment, DATABASE_URL: await testDatabase() });
  const pattern = JSON.stringify({ pattern: "needle" });
  provider.respond(callTools({ id: "call-1", name: "grep", arguments: pattern }), answer("done"));
  const directory = await ownFolder();
  await writeFile(join(directory, "haystack.txt"), "hay\na needle\n");
  const words = ["run", "search", "--model", "gpt-4o", "--tools", "grep", "--work-dir", directory, "--json"];
  const { code, stdout } = await runCommand([...words, "--url", url]);
  expect(code).toBe(0);
  expect(stdout).toContain("haystack.txt:2");
});

test("a rule of the contract that is compiled when a field needs it refuses what it refuses in the source", async () => {
  const { target } = await startProcess({ DATABASE_URL: await testDatabase() });
  const client = new GrpcClient(target);
  const refusals = [
    [{ query: "" }, "query: must be at least 1 characters"],
    [{ query: "é".repeat(513) }, "query: must be at most 1024 bytes"],
    [{ query: "a\0b" }, "query: must not contain a NUL character"],
    [{ query: "a", createTimeFrom: { seconds: -1n } }, "create_time_from: must be greater than or equal to"],
    [{ query: "a", pageSize: 251 }, "page_size: must be greater than or equal to 0 and less than or equal to 250"],
  ] as const;
  for (const [request, refusal] of refusals) {
    await expect(client.call(RunService.method.searchRuns, request)).rejects.toThrow(`invalid ${refusal}`);
  }
});

test("a stack trace names the source files", async () => {
  const breakOutput = 'process.stdout.write = () => { throw new Error("broken output"); };';
  const environment = {
    NODE_OPTIONS: `--enable-source-maps --import=data:text/javascript,${encodeURIComponent(breakOutput)}`,
  };
  const { stderr } = await runCommand(["--version"], { environment });
  expect(stderr).toMatch(/broken output[\s\S]*\/src\/cli\/terminal\.ts:\d+:\d+/);
});
