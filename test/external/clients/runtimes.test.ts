// `@runnel/client` under Deno and Bun, which npm installs: the packed package passes the conformance kit, whose cases send, follow, and
// resume streams that break.

import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { repositoryRoot } from "../../../scripts/run-command.ts";
import { cases, runCases } from "../../clients/kit.ts";
import { programSubject } from "../../clients/subject.ts";
import { writeSubject } from "./write-subject.ts";

/** npm downloads the runtimes; the kit starts a program for each case. */
vi.setConfig({ testTimeout: 300_000, hookTimeout: 240_000 });

const runtimes = [
  { name: "deno", version: "2.9.6", args: ["run", "--allow-all"] },
  { name: "bun", version: "1.4.5", args: ["run"] },
];
const root = mkdtempSync(join(tmpdir(), "runnel-runtimes-"));
const folder = join(root, "empty");

beforeAll(async () => {
  // npm's programs take the Node of the tests, and Deno keeps what it compiles.
  vi.stubEnv("PATH", `${dirname(process.execPath)}${delimiter}${process.env.PATH}`);
  vi.stubEnv("DENO_DIR", join(root, "deno"));
  mkdirSync(folder);
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  const tarball = await run(join(repositoryRoot, "clients/typescript"), "npm", [
    "pack",
    "--silent",
    "--pack-destination",
    root,
  ]);
  const packages = runtimes.map(({ name, version }) => `${name}@${version}`);
  await run(folder, "npm", ["install", "--no-audit", "--no-fund", join(root, tarball.trim()), ...packages]);
});
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(root, { recursive: true, force: true });
});

test.each(runtimes)("under $name, the packed package passes the conformance kit", async ({ name, version, args }) => {
  const program = join(folder, "node_modules/.bin", name);
  expect(await run(folder, program, ["--version"])).toContain(version);
  const verdicts = await runCases(cases, programSubject(program, [...args, writeSubject(folder)]), { atATime: 3 });
  expect(verdicts.length).toBeGreaterThan(100);
  expect(verdicts.filter(({ problems }) => problems.length > 0)).toEqual([]);
});

async function run(directory: string, program: string, args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(program, args, { cwd: directory });
  return stdout;
}
