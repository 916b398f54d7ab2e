// `@runnel/client` as its users have it: packed, installed into an empty directory, and used with Node and nothing else. Its README's
// example gets the whole text once, although the service is killed with -9, and the package passes the conformance kit.

import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { publint } from "publint";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { repositoryRoot } from "../../../scripts/run-command.ts";
import { cases, runCases } from "../../clients/kit.ts";
import { programSubject } from "../../clients/subject.ts";
import { keyOf } from "../../harness/credentials.ts";
import { type Running, startProgram } from "../program.ts";
import { startMortalService, wholeText } from "./killed-service.ts";
import { atFreePort, callWebhook, startForTasks, tasksPrinted, webhookTold } from "./tasks.ts";
import { writeSubject } from "./write-subject.ts";

/** npm downloads packages; the kit starts a program for each case. */
vi.setConfig({ testTimeout: 300_000, hookTimeout: 240_000 });

const packedMaxBytes = 400_000;
const sources = join(repositoryRoot, "clients/typescript");
const root = mkdtempSync(join(tmpdir(), "runnel-client-"));
const tarball = join(root, "runnel-client-0.2.0.tgz");
const folder = join(root, "empty");
/** npm's cache, proxy and certificates are those of the machine. */
const path = `${dirname(process.execPath)}${delimiter}${process.env.PATH}`;
const environment = { ...process.env, PATH: path, NODE_DISABLE_COMPILE_CACHE: "1" };

beforeAll(async () => {
  mkdirSync(folder);
  await run(sources, "npm", ["pack", "--silent", "--pack-destination", root]);
  await run(folder, "npm", ["install", "--no-audit", "--no-fund", tarball]);
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

test("it is small, and brings Connect and protobuf alone", () => {
  expect(statSync(tarball).size).toBeLessThan(packedMaxBytes);
  const packages = readdirSync(join(folder, "node_modules")).filter((name) => !name.startsWith("."));
  expect(packages.toSorted()).toEqual(["@bufbuild", "@connectrpc", "@runnel"]);
  expect(readdirSync(join(folder, "node_modules/@bufbuild"))).toEqual(["protobuf"]);
});

test("publint finds nothing", async () => {
  const bytes = Uint8Array.from(readFileSync(tarball)).buffer;
  const { messages } = await publint({ pack: { tarball: bytes }, strict: true });
  expect(messages).toEqual([]);
});

test("arethetypeswrong finds the types of every entry and every generated file", async () => {
  const contents = createPackageFromTarballData(readFileSync(tarball));
  const generated = contents
    .listFiles()
    .map((file) => /\/dist(\/gen\/.*)\.js$/.exec(file)?.[1])
    .filter((file) => file !== undefined)
    .map((file) => `.${file}`);
  expect(generated.length).toBeGreaterThan(50);
  const entrypoints = [".", "./browser", "./worker", "./ag-ui", ...generated];
  const result = await checkPackage(contents, { entrypoints });
  const problems = result.types === false ? expect.unreachable("no types") : result.problems;
  // The package is ESM only: Node loads it with `require` too. The resolution of Node 10 knows no `exports`.
  const shown = problems.filter((each) => !("resolutionKind" in each && each.resolutionKind === "node10"));
  expect(shown.filter(({ kind }) => kind !== "CJSResolvesToESM")).toEqual([]);
});

test("the README's example type-checks, and gets the whole text once although the service is killed", async () => {
  const service = await startMortalService();
  const program = await startExample("hello.ts", exampleOf("hello.ts").replace("http://127.0.0.1:8090", service.url));
  await service.killWhen("text at the reader", () => program.stderr().includes("messageDelta"));
  const { stdout, stderr, exitCode } = await program.finished;
  expect([exitCode, stdout.toString()], stderr).toEqual([0, `${wholeText}\n`]);
  expect(stderr).toContain("turnRestarted");
});

test("the README's tasks do what they say", async () => {
  const { url } = await startForTasks();
  const program = await startExample("tasks.ts", exampleOf("tasks.ts").replace("http://127.0.0.1:8090", url));
  const { stdout, stderr } = await program.finished;
  expect(stdout.toString().trim().split("\n"), stderr).toEqual(tasksPrinted);
});

test("the README's webhook takes a callback of the service, and no other", async () => {
  const { port, code } = await atFreePort(exampleOf("webhook.ts"));
  expect(await callWebhook(await startExample("webhook.ts", code), port)).toEqual(webhookTold);
});

test("the packed package passes the conformance kit", async () => {
  // Subjects have the environment of the kit.
  vi.stubEnv("NODE_DISABLE_COMPILE_CACHE", "1");
  const program = programSubject(process.execPath, [writeSubject(folder)]);
  const verdicts = await runCases(cases, program, { atATime: 4 });
  expect(verdicts.filter(({ problems }) => problems.length > 0)).toEqual([]);
});

/** Returns the program of the README whose first line names it. */
function exampleOf(name: string): string {
  const readme = readFileSync(join(sources, "README.md"), "utf8");
  const blocks = [...readme.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code = ""]) => code);
  return blocks.find((code) => code.startsWith(`// ${name}`)) ?? expect.unreachable(`no ${name}`);
}

/** Type-checks a program in the empty directory, and starts it there. */
async function startExample(name: string, code: string): Promise<Running> {
  const file = join(folder, name);
  writeFileSync(file, code);
  const types = join(repositoryRoot, "node_modules/@types");
  const checks = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2024", "--typeRoots", types];
  await run(folder, join(repositoryRoot, "node_modules/.bin/tsc"), [...checks, "--types", "node", file]);
  return startProgram(process.execPath, [file], {
    directory: folder,
    environment: { ...environment, RUNNEL_API_KEY: keyOf() },
  });
}

async function run(directory: string, program: string, args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(program, args, { cwd: directory, env: environment });
  return stdout;
}
