// `demo`: it keeps the promise of the README's first command and leaves nothing behind, also when it is interrupted.

import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { until } from "../harness/wait.ts";
import { ownFolder, startCommand } from "./command.ts";

/** Two starts of a service and one of an embedded Postgres, on a machine with other work. */
const demoTimeoutMs = 180_000;

test("demo shows both readers through kill -9, exits with 0 and leaves nothing behind", {
  timeout: demoTimeoutMs,
}, async () => {
  const home = await ownFolder();
  const { code, stdout, stderr } = await startCommand(["demo"], { environment: { TMPDIR: home } }).ended;
  expect(code).toBe(0);
  expect(stderr).toMatch(/^Creating the database in \S+\n$/);
  expect(stdout).toMatch(/^gRPC #\d+ run\.completed$/m);
  expect(stdout).toMatch(/^ +SSE #\d+ run\.completed$/m);
  expect(stdout).toMatch(/kill -9 \d+/);
  expect(stdout).toMatch(/^gRPC resumes after #\d+$/m);
  expect(stdout).toMatch(/^ +SSE resumes after #\d+$/m);
  expect(stdout).toContain("none lost, none twice, the same text");
  await expectNothingIn(home);
});

test("demo --json prints only the end, and ignores the user's own settings", {
  timeout: demoTimeoutMs,
}, async () => {
  const home = await ownFolder();
  const directory = await ownFolder();
  await writeFile(join(directory, "config.yaml"), "server:\n  port: not a port\n");
  const environment = { TMPDIR: home, DATABASE_URL: "postgres://127.0.0.1:1/none", RUNNEL_AUTH_ADMIN_TOKEN: "short" };
  const { code, stdout, stderr } = await startCommand(["demo", "--json"], { environment, directory }).ended;
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const outcome = JSON.parse(stdout);
  expect(outcome).toMatchObject({ sessionId: expect.any(String), runId: expect.any(String), faults: [] });
  expect(outcome.results).toBeGreaterThan(80);
  await expectNothingIn(home);
});

test("demo doors reads one run over every protocol through kill -9, with the same text", {
  timeout: demoTimeoutMs,
}, async () => {
  const home = await ownFolder();
  const { code, stdout } = await startCommand(["demo", "doors"], { environment: { TMPDIR: home } }).ended;
  expect({ code, stdout }).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("All 10 readers end with the same text"),
  });
  const [, ...rows] = stdout.slice(stdout.indexOf("door  ")).split("\n").slice(0, 11);
  // At least five pieces before the kill, at least one after it: none had the end already.
  expect(rows).toEqual(Array(10).fill(expect.stringMatching(/^\S.*? {2,}(?:[5-9]|\d{2,}) +[1-9]\d* +✓$/)));
  await expectNothingIn(home);
});

test("demo team has one run for each call through kill -9, and prints the tree", {
  timeout: demoTimeoutMs,
}, async () => {
  const home = await ownFolder();
  const { code, stdout } = await startCommand(["demo", "team"], { environment: { TMPDIR: home } }).ended;
  expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining("Each call has one run") });
  const rows = stdout.split("\n").filter((line) => /^ *(editor|researcher|critic) +completed/.test(line));
  expect(rows.map((row) => row.trimEnd().split(/ {2,}/).filter(Boolean)[0])).toEqual([
    "editor",
    "researcher",
    "critic",
  ]);
  await expectNothingIn(home);
});

test("an interrupted demo cleans up as well", { timeout: demoTimeoutMs }, async () => {
  const home = await ownFolder();
  const demo = startCommand(["demo"], { environment: { TMPDIR: home } });
  await until("both readers to read", () => /gRPC #.*SSE #/s.test(demo.stdout()), demoTimeoutMs);
  demo.child.kill("SIGINT");
  expect(await demo.ended).toMatchObject({ code: 130, stderr: expect.stringMatching(/✗ interrupted\n$/) });
  await expectNothingIn(home);
});

async function expectNothingIn(home: string): Promise<void> {
  expect(await readdir(home)).toEqual([]);
  expect(await commandsNaming(home)).toEqual([]);
}

/** Returns the command lines of processes that name the folder; none on a machine without /proc. */
async function commandsNaming(folder: string): Promise<string[]> {
  const pids = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name));
  const commands = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")));
  return commands.filter((command) => command.includes(folder));
}
