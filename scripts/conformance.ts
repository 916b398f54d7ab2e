// `npm run conformance`: conformance suites and programs that we did not write. `npm run conformance -- <part> …` runs these parts alone, and fails when one of
// them cannot run; without names it runs every part that the machine has programs for. Each part reports by itself.
// `-- recorded <folder> [text]` plays only recorded streams of model providers. `-- suite [--custom-stream] --run '<case>' --trace`
// runs only the named cases of the Connect suite, and prints the traffic of failed ones.

import { mkdtempDisposable, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { programs, pythonEnvironments } from "../test/external/programs.ts";
import { runRecorded } from "../test/recorded/run.ts";
import { filesOf, type PartName, partNames, parts } from "./conformance-parts.ts";
import { preparePython } from "./conformance-python.ts";
import { prepareSuite, runSuite, suiteRuns } from "./connect-conformance.ts";
import { showCommand } from "./run-command.ts";

interface Outcome {
  readonly state: "passed" | "failed" | "left out";
  readonly remark: string;
}

const [first, ...others] = process.argv.slice(2);
try {
  if (first === "--help" || first === "-h") {
    printHelp();
  } else {
    process.exitCode = first === "recorded" ? await playRecorded(others) : await runParts(process.argv.slice(2));
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

function printHelp(): void {
  console.log("usage: npm run conformance [-- <part> …], or -- recorded <folder> [text in the path]\n");
  for (const name of partNames) {
    const { about, needs } = parts[name];
    console.log(`${name.padEnd(18)} ${about}${needs.length > 0 ? ` (needs ${needs.join(", ")})` : ""}`);
  }
}

async function playRecorded([folder, text]: readonly string[]): Promise<0 | 1> {
  if (folder === undefined) {
    throw new Error("usage: npm run conformance -- recorded <folder> [text in the path]");
  }
  return await runRecorded(folder, text ?? "", console.log);
}

async function runParts(words: readonly string[]): Promise<0 | 1> {
  const options = words.findIndex((word) => word.startsWith("-"));
  const named = readNames(options < 0 ? words : words.slice(0, options));
  const suiteArgs = options < 0 ? [] : words.slice(options);
  const chosen = named.length > 0 ? named : partNames;
  for (const [program, environment] of Object.entries(pythonEnvironments)) {
    if (chosen.some((name) => parts[name].needs.some((need) => need === program))) {
      await preparePython(environment);
    }
  }
  const outcomes = new Map<PartName, Outcome>(chosen.flatMap((name) => leaveOut(name, named.length > 0)));
  const present = chosen.filter((name) => !outcomes.has(name));
  for (const [name, outcome] of await runTests(present.filter((name) => name !== "suite"))) {
    outcomes.set(name, outcome);
  }
  // Alone: its runner gives a server seconds to start, which it needs beside browsers.
  if (present.includes("suite")) {
    outcomes.set("suite", await runConnectSuite(suiteArgs));
  }
  return summarize(chosen, outcomes);
}

function readNames(words: readonly string[]): readonly PartName[] {
  const unknown = words.find((word) => !partNames.some((name) => name === word));
  if (unknown !== undefined) {
    throw new Error(`unknown part: ${unknown}; the parts are ${partNames.join(", ")}, and recorded <folder>`);
  }
  return partNames.filter((name) => words.includes(name));
}

/** Returns the outcome of a part whose programs are missing: a failure when the caller named the part. */
function leaveOut(name: PartName, isNamed: boolean): [PartName, Outcome][] {
  const missing = parts[name].needs.filter((need) => !programs[need].isHere());
  const remark = missing.map((need) => `needs ${need}: ${programs[need].bring}`).join("; ");
  return missing.length === 0 ? [] : [[name, { state: isNamed ? "failed" : "left out", remark }]];
}

/** Runs the tests of all these parts at once, so that one part computes while another waits. */
async function runTests(names: readonly PartName[]): Promise<readonly (readonly [PartName, Outcome])[]> {
  const files = names.flatMap(filesOf);
  if (files.length === 0) {
    return [];
  }
  await using folder = await mkdtempDisposable(join(tmpdir(), "runnel-conformance-"));
  const report = join(folder.path, "report.json");
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
  const exitCode = await showCommand("vitest", [
    "run",
    "--config",
    "test/external/vitest.config.ts",
    ...reporters,
    ...files,
  ]);
  const { testResults } = JSON.parse(await readFile(report, "utf8").catch(noReport)) as Report;
  const outcomes = names.map((name) => [name, judge(filesOf(name), testResults)] as const);
  const isBlamed = outcomes.some(([, { state }]) => state === "failed");
  if (exitCode !== 0 && !isBlamed) {
    throw new Error(`vitest ended with ${exitCode}, and no part is to blame: look above`);
  }
  return outcomes;
}

interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly startTime: number;
    readonly endTime: number;
    readonly assertionResults: readonly { readonly status: string }[];
  }[];
}

function noReport(): never {
  throw new Error("vitest wrote no report: look above");
}

function judge(files: readonly string[], results: Report["testResults"]): Outcome {
  const own = results.filter(({ name }) => files.some((file) => name.endsWith(`/${file}`)));
  const tests = own.flatMap(({ assertionResults }) => assertionResults);
  const passed = tests.filter(({ status }) => status === "passed").length;
  const failed = tests.filter(({ status }) => status === "failed").length;
  const seconds = own.reduce((sum, { startTime, endTime }) => sum + Math.max(endTime - startTime, 0) / 1000, 0);
  const isPassed = own.length === files.length && own.every(({ status }) => status === "passed") && passed > 0;
  const remark = `${passed} passed, ${failed} failed, ${tests.length - passed - failed} left out, ${Math.round(seconds)} s of tests`;
  return { state: isPassed ? "passed" : "failed", remark };
}

async function runConnectSuite(words: readonly string[]): Promise<Outcome> {
  const suiteArgs = words.filter((word) => word !== "--custom-stream");
  const isCustom = words.length > suiteArgs.length;
  // Named cases run once: with the handlers, or with --custom-stream.
  const all = suiteArgs.length > 0 ? [suiteRuns.handlers] : Object.values(suiteRuns);
  const startMs = performance.now();
  try {
    await prepareSuite();
    const runs = isCustom ? [suiteRuns.customStream] : all;
    // At once: one of them uses three quarters of a core.
    const passed = await Promise.all(runs.map((run) => runSuite(run, suiteArgs)));
    const sum = passed.reduce((one, other) => one + other, 0);
    return { state: "passed", remark: `${sum} passed, 0 failed, ${secondsSince(startMs)} s` };
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return { state: "failed", remark: `look above, ${secondsSince(startMs)} s` };
  }
}

function secondsSince(startMs: number): number {
  return Math.round((performance.now() - startMs) / 1000);
}

/** Prints a line for each part. Returns the exit code. */
function summarize(names: readonly PartName[], outcomes: ReadonlyMap<PartName, Outcome>): 0 | 1 {
  const marks = { passed: "✓", failed: "✗", "left out": "-" } as const;
  const width = Math.max(...names.map((name) => name.length));
  for (const name of names) {
    const { state, remark } = outcomes.get(name) ?? { state: "failed", remark: "did not run" };
    console.log(`${marks[state]} ${name.padEnd(width)}  ${state}: ${remark} (${parts[name].about})`);
  }
  return [...outcomes.values()].some(({ state }) => state === "failed") ? 1 : 0;
}
