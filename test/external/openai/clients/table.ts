// Runs programs of others, unmodified, feature by feature; and keeps the table of the page that says what works.

import { cp, readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { expect, onTestFinished, vi } from "vitest";
import { runCommand } from "../../../../scripts/run-command.ts";
import type { Config } from "../../../../src/platform/config/keys.ts";
import { onChat } from "../../../fakes/provider.ts";
import { openFolder, openWireServer } from "../../../fixtures.ts";
import { keyOf } from "../../../harness/credentials.ts";
import { query } from "../../../harness/database.ts";
import { startService, type TestService } from "../../../harness/service.ts";
import { until } from "../../../harness/wait.ts";
import { runProgram } from "../../program.ts";
import { openaiClientsPython } from "../../programs.ts";
import { cancelled, obey } from "./model.ts";

interface Outcome {
  readonly client: string;
  readonly feature: string;
  /** Null when it works. */
  readonly problem: string | null;
}

/** What has programs. */
export interface Programs {
  /** Each program in Python, after the Python that has its packages. */
  readonly pythons: readonly (readonly [python: string, script: string])[];
  readonly node: string;
  /** The folder with the packages of the program for Node. */
  readonly packages: string;
  /** What the programs get as their base URL, after the service's own. */
  readonly path: string;
}

/** Returns the programs of a folder for an API that OpenAI's packages speak. */
export function programsOf(folder: string, path: string): Programs {
  return {
    pythons: [[openaiClientsPython, join(folder, "programs.py")]],
    node: join(folder, "programs.mjs"),
    packages: join(import.meta.dirname, "packages"),
    path,
  };
}

/** Two hundred cases, programs that take seconds to load, and packages from a registry that may be slow. */
export const tableMaxMs = 1_200_000;

/** Runs all programs against one service. Fails when a feature does not work, or when a page does not say so. */
export async function checkTable(all: Programs, page: string, more: Partial<Config> = {}): Promise<void> {
  const server = await openWireServer(() => onChat(obey));
  const flags = { openaiKey: "k", openaiBaseUrl: `${server.origin}/v1`, circuitMaxFailures: 1_000 };
  const service = await startService({ ...flags, ...more, defaultModel: "gpt-4o-mini" }, { own: true });
  const args = [`${service.url}${all.path}`, keyOf()];
  const outcomes: Outcome[] = [];
  for (const [python, script] of all.pythons) {
    outcomes.push(...(await runPython(python, [script, ...args])));
  }
  outcomes.push(...(await runNode(all, args)));
  expect(outcomes.filter(({ problem }) => problem !== null)).toEqual([]);
  await checkCancelled(service, outcomes);
  await checkPage(page, printTable(outcomes));
}

async function runPython(python: string, args: readonly string[]): Promise<readonly Outcome[]> {
  const environment = { PYTHONPATH: import.meta.dirname };
  return readOutcomes(await runProgram(python, args, { environment }));
}

/** npm installs the packages into a folder of the test: they are too large for everybody who installs Runnel. */
async function runNode({ node: script, packages }: Programs, args: readonly string[]): Promise<readonly Outcome[]> {
  const folder = await openFolder();
  await cp(packages, folder, { recursive: true });
  // npm would leave its compile cache behind.
  vi.stubEnv("NODE_DISABLE_COMPILE_CACHE", "1");
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
  await runCommand("npm", ["ci", "--prefix", folder, "--ignore-scripts", "--no-audit", "--no-fund"]);
  const shared = ["checks.mjs", "ai-sdk.mjs"].map((name) => join(import.meta.dirname, name));
  for (const file of [...shared, script]) {
    await cp(file, join(folder, basename(file)));
  }
  return readOutcomes(await runProgram(process.execPath, [join(folder, basename(script)), ...args]));
}

/** Some programs print lines of their own. */
function readOutcomes({ stdout }: { readonly stdout: Buffer }): readonly Outcome[] {
  const lines = stdout.toString().split("\n");
  return lines.filter((line) => line.startsWith('{"client"')).map((line) => JSON.parse(line));
}

/** Checks that each run whose caller left, or cancelled it, ended as cancelled, and that its model was left too. */
async function checkCancelled(service: TestService, outcomes: readonly Outcome[]): Promise<void> {
  const clients = outcomes.filter(({ feature }) => feature === "cancel").map(({ client }) => client);
  await until("the cancelled runs", () => cancelled.size === clients.length);
  expect([...cancelled].toSorted()).toEqual(clients.toSorted());
  const runs = () => query(service.databaseUrl, "select from run where status = 'cancelled'");
  await until("their ends", async () => (await runs()).length === clients.length);
}

/** Prints a row for each client, and a column for each feature that several clients have. */
function printTable(all: readonly Outcome[]): string {
  const byFeature = Map.groupBy(all, ({ feature }) => feature);
  const features = [...byFeature].filter(([, cases]) => cases.length > 2).map(([feature]) => feature);
  const rows = [...Map.groupBy(all, ({ client }) => client)].map(([client, cases]) => {
    const cells = features.map((name) => (cases.some(({ feature }) => feature === name) ? "✓" : ""));
    return [client, ...cells];
  });
  const table = [["program", ...features], ["", ...features].map(() => "---"), ...rows];
  return table.map((cells) => `| ${cells.join(" | ")} |\n`).join("");
}

async function checkPage(name: string, table: string): Promise<void> {
  const page = join(import.meta.dirname, "../../../../docs/call", name);
  const text = await readFile(page, "utf8");
  const filled = text.replace(/(<!-- clients:begin -->\n)[\s\S]*(<!-- clients:end -->)/, `$1\n${table}\n$2`);
  if (process.env.WRITE_TABLE === "1") {
    await writeFile(page, filled);
  }
  expect(await readFile(page, "utf8")).toBe(filled);
}
