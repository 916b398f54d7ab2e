// The single-file binary without Node on the path: it unpacks itself once, over kills and starts at the same time, and does what the
// package does.

import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, statSync, symlinkSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { repositoryRoot, runCommand } from "../../scripts/run-command.ts";
import { version } from "../../src/platform/base/version.ts";
import { authEnvironment, credentialsOf } from "../harness/credentials.ts";
import { testDatabase } from "../harness/database.ts";
import { until } from "../harness/wait.ts";
import { type Finished, type Running, runProgram, startProgram } from "./program.ts";

/** The build compresses 70 MB, and `demo` starts two services and a Postgres. */
vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

const maxBytes = 160_000_000;
const binary = join(repositoryRoot, `dist-binary/runnel-${process.platform}-${process.arch}`);
const root = mkdtempSync(join(tmpdir(), "runnel-binary-"));
const realCache = join(root, "real-cache");
/** A link, as caches on other disks are. */
const cache = join(root, "cache");
const empty = join(root, "empty");
const environment = { PATH: empty, HOME: join(root, "home"), TMPDIR: root, XDG_CACHE_HOME: cache };

beforeAll(async () => {
  // Postgres of root runs as another account, which has to reach the folder.
  chmodSync(root, 0o755);
  for (const folder of [realCache, empty, environment.HOME]) {
    mkdirSync(folder);
  }
  symlinkSync(realCache, cache);
  await runCommand("node", ["scripts/binary.ts"]);
});
afterAll(() => rm(root, { recursive: true, force: true }));

test("it is one file, which shows its version and unpacks itself at the first start alone", async () => {
  expect(statSync(binary).size).toBeLessThan(maxBytes);
  expect(await printVersion(cache)).toBe(`runnel ${version}\n`);
  const folder = join(cache, "runnel", unpackedIn(cache));
  expect(readdirSync(folder).toSorted()).toEqual(
    ["BUILD", "LICENSE", "console", "dist", "migrations", "node_modules", "package.json"].toSorted(),
  );
  const { ino } = statSync(folder);
  expect(await printVersion(cache)).toBe(`runnel ${version}\n`);
  expect(statSync(folder).ino).toBe(ino);
});

test("killed while it unpacks, it leaves nothing that the next start would use", async () => {
  const other = await until("a start that is killed while it unpacks", async () => {
    const tried = mkdtempSync(join(root, "killed-"));
    const start = startProgram(binary, ["--version"], { environment: { ...environment, XDG_CACHE_HOME: tried } });
    const isUnpacking = () => foldersWithFiles(tried).some((name) => name.endsWith(".new"));
    await until("the draft", isUnpacking, 5_000).catch(() => {});
    process.kill(start.pid, "SIGKILL");
    await start.finished;
    // On a busy machine it may have finished meanwhile.
    return isUnpacking() && tried;
  });
  expect(foldersWithFiles(other)).toEqual([expect.stringMatching(/\.new$/)]);
  expect(await printVersion(other)).toBe(`runnel ${version}\n`);
  expect(listFiles(other)).toEqual(listFiles(cache));
});

test("several first starts at once give one whole folder", async () => {
  const other = mkdtempSync(join(root, "together-"));
  const printed = await Promise.all([1, 2, 3].map(() => printVersion(other)));
  expect(new Set(printed)).toEqual(new Set([`runnel ${version}\n`]));
  expect(listFiles(other)).toEqual(listFiles(cache));
});

test("a cache that cannot be written to, or that belongs to another user, is refused with what to do", async () => {
  const start = (folder: string) =>
    startProgram(binary, ["--version"], { environment: { ...environment, XDG_CACHE_HOME: folder } }).finished;
  expect(await start(binary)).toMatchObject({
    exitCode: 1,
    stderr: expect.stringMatching(/ENOTDIR.*\nSet XDG_CACHE_HOME/),
  });
  const foreign = mkdtempSync(join(root, "foreign-"));
  await printVersion(foreign);
  const own = process.getuid?.() ?? 0;
  for (const path of [join(foreign, "runnel"), join(foreign, "runnel", unpackedIn(foreign))]) {
    chownSync(path, own + 1, -1);
    expect(await start(foreign)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining(`${path}: it belongs to another user.\nSet XDG_CACHE_HOME`),
    });
    chownSync(path, own, -1);
  }
});

test("dev serves a run and the console from an empty folder", async () => {
  const dev = startProgram(binary, ["dev", "--port", "0"], { directory: empty, environment });
  onTestFinished(async () => {
    await stop(dev);
  });
  const url = await until("dev to serve", () => /ready on (http:\/\/\S+)/.exec(dev.stderr())?.[1], 120_000);
  const { stdout } = await runProgram(binary, ["run", "hello", "--url", url], { directory: empty, environment });
  expect(stdout.toString()).toMatch(/\w/);
  const page = await (await fetch(`${url}/`)).text();
  const [, script] = /src="\.\/(assets\/[^"]+\.js)"/.exec(page) ?? [];
  expect((await fetch(`${url}/console/${script}`)).status).toBe(200);
});

test("serve starts worker processes of the binary", async () => {
  const serve = startProgram(binary, ["serve", "--port", "0"], {
    directory: empty,
    environment: {
      ...environment,
      ...authEnvironment,
      RUNNEL_DATABASE_URL: await testDatabase(),
      RUNNEL_DEFAULTS_MODEL: "demo",
      RUNNEL_SERVER_PROCESSES: "2",
    },
  });
  const url = await until("serve to serve", () => /serves on (http:\/\/\S+)/.exec(serve.stderr())?.[1]);
  const listening = () => [...serve.stderr().matchAll(/"msg":"server\.listening"/g)].length;
  await until("both workers to serve", () => listening() === 2);
  expect((await fetch(`${url}/v1/sessions`, { headers: credentialsOf() })).status).toBe(200);
  expect(await stop(serve)).toMatchObject({ exitCode: 0 });
});

test("the demo passes: it kills a service of the binary and starts it again", async () => {
  const { stdout } = await runProgram(binary, ["demo"], { directory: empty, environment });
  expect(stdout.toString()).toContain("none lost, none twice, the same text");
});

async function printVersion(XDG_CACHE_HOME: string): Promise<string> {
  const { stdout } = await runProgram(binary, ["--version"], { environment: { ...environment, XDG_CACHE_HOME } });
  return stdout.toString();
}

/** Ends it by the signal that lets it stop its Postgres. */
async function stop(program: Running): Promise<Finished> {
  process.kill(program.pid, "SIGTERM");
  return await program.finished;
}

/** Returns the names beside the compiled code that Node keeps. */
function listCache(folder: string): string[] {
  const parent = join(folder, "runnel");
  return existsSync(parent) ? readdirSync(parent).filter((name) => name.startsWith(`${version}-`)) : [];
}

function foldersWithFiles(folder: string): string[] {
  return listCache(folder).filter((name) => existsSync(join(folder, "runnel", name, "dist")));
}

function unpackedIn(folder: string): string {
  const [name = "", ...others] = listCache(folder);
  expect(others).toEqual([]);
  return name;
}

/** Returns the files of the program with their sizes and modes. Postgres adds links to them. */
function listFiles(folder: string): string[] {
  const parent = join(folder, "runnel", unpackedIn(folder));
  const entries = readdirSync(parent, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const files = entries.map((entry) => join(entry.parentPath, entry.name));
  return files.map((file) => `${file.slice(parent.length)} ${statSync(file).size} ${statSync(file).mode}`).toSorted();
}
