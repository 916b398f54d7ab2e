// The official suite of servers of Durable Streams, unmodified: its cases that read. `cases.yaml` names them, and those that fail.

import { cp, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, expect, test, vi } from "vitest";
import { parse } from "yaml";
import { runCommand } from "../../../scripts/run-command.ts";
import { startService } from "../../harness/service.ts";
import { startProgram } from "../program.ts";
import { startAdapter } from "./adapter.ts";

interface Cases {
  /** Beginnings of the full names of cases. */
  readonly read: readonly string[];
  /** Full names. */
  readonly failures: readonly string[];
}

interface Report {
  readonly testResults: readonly {
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
  }[];
}

let folder: string;

beforeAll(async () => {
  // npm would leave its compile cache behind.
  vi.stubEnv("NODE_DISABLE_COMPILE_CACHE", "1");
  folder = await mkdtemp(join(tmpdir(), "runnel-durable-streams-"));
  await cp(join(import.meta.dirname, "packages"), folder, { recursive: true });
  // Not `npm ci`: the lock file lacks an optional package for Windows, which npm leaves out of it.
  await runCommand("npm", ["install", "--prefix", folder, "--ignore-scripts", "--no-audit", "--no-fund"]);
  return async () => {
    vi.unstubAllEnvs();
    await rm(folder, { recursive: true });
  };
}, 600_000);

test("of the cases that read, those of the list fail", { timeout: 600_000, retry: 1 }, async () => {
  const { read, failures }: Cases = parse(await readFile(join(import.meta.dirname, "cases.yaml"), "utf8"));
  const service = await startService({ serverCorsOrigins: ["*"], sessionsMaxConcurrent: 0 }, { own: true });
  const url = await startAdapter(service);
  const report = join(folder, "report.json");
  const pattern = `^(${read.map((name) => RegExp.escape(name)).join("|")})`;
  const vitest = join(folder, "node_modules/vitest/vitest.mjs");
  // Some cases wait for the end of a poll.
  const args = [vitest, "run", "--reporter=json", `--outputFile=${report}`, "--testTimeout=60000", "-t", pattern];
  await startProgram(process.execPath, args, { environment: { CONFORMANCE_TEST_URL: url }, directory: folder })
    .finished;
  const { testResults }: Report = JSON.parse(await readFile(report, "utf8"));
  const results = testResults.flatMap(({ assertionResults }) => assertionResults);
  const namesOf = (wanted: string) =>
    results.filter(({ status }) => status === wanted).map(({ fullName }) => fullName.trim());
  expect(namesOf("failed").sort()).toEqual([...failures].sort());
  // The counts of docs/call/durable-streams.md.
  expect({ passed: namesOf("passed").length, failed: failures.length }).toEqual({ passed: 60, failed: 42 });
});
