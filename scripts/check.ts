// `npm run check`: runs every check except the tests, the fastest first, one line per step. It stops at the first failure,
// changes nothing that git tracks, and works offline.

import { checkBreaking } from "./breaking.ts";
import { checkGoStubsAreFresh } from "./go-stubs.ts";
import { checkPythonContractIsFresh } from "./python-contract.ts";
import { runCommand } from "./run-command.ts";
import { checkRustContractIsFresh } from "./rust-contract.ts";
import { checkGenIsFresh } from "./stale-gen.ts";

interface Step {
  readonly name: string;
  /** Throws when the check fails; may return a remark for the step's line. */
  readonly run: () => Promise<string | undefined>;
}

const steps: readonly Step[] = [
  { name: "gen/ is fresh", run: checkGenIsFresh },
  { name: "Python's contract is fresh", run: checkPythonContractIsFresh },
  { name: "Rust's contract is fresh", run: checkRustContractIsFresh },
  { name: "Go's stubs are fresh", run: checkGoStubsAreFresh },
  // Loaded after the check of gen/, which the settings need.
  {
    name: "reference pages are fresh",
    run: async () => (await import("./reference-pages.ts")).checkReferencePagesAreFresh(),
  },
  { name: "buf lint", run: () => silent(runCommand("buf", ["lint"])) },
  { name: "buf format", run: () => silent(runCommand("buf", ["format", "--diff", "--exit-code", "proto"])) },
  { name: "buf breaking", run: checkBreaking },
  { name: "tsc", run: () => silent(runCommand("tsc", ["--noEmit"])) },
  { name: "tsc of the console", run: () => silent(runCommand("tsc", ["--project", "console"])) },
  { name: "tsc of the chat", run: () => silent(runCommand("tsc", ["--project", "clients/chat"])) },
  { name: "biome", run: () => silent(runCommand("biome", ["check", "--error-on-warnings"])) },
  { name: "knip", run: () => silent(runCommand("knip", ["--no-progress"])) },
  { name: "architecture", run: () => silent(runCommand("vitest", ["run", "test/architecture"])) },
];

for (const step of steps) {
  const startMs = performance.now();
  try {
    const remark = await step.run();
    console.log(formatLine("✓", step.name, performance.now() - startMs, remark));
  } catch (error) {
    console.log(formatLine("✗", step.name, performance.now() - startMs, undefined));
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
    break;
  }
}

async function silent(work: Promise<unknown>): Promise<undefined> {
  await work;
}

function formatLine(mark: string, name: string, durationMs: number, remark: string | undefined): string {
  const nameWidth = Math.max(...steps.map((step) => step.name.length));
  const seconds = `${(durationMs / 1000).toFixed(1)} s`;
  return `${mark} ${name.padEnd(nameWidth)}  ${seconds.padStart(6)}${remark === undefined ? "" : `  ${remark}`}`;
}
