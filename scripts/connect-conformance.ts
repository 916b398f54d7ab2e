// The official conformance suite of Connect, gRPC and gRPC-Web. Go fetches its runner and its protos at one version. It runs
// against the server in test/connect-conformance. Nothing that is fetched or generated is committed.

import { join } from "node:path";
import { rolldown } from "rolldown";
import { repositoryRoot, runCommand } from "./run-command.ts";

/** The version of the suite. */
export const suiteVersion = "v1.0.5";
/** The checksum of the module's content, as Go computes it for go.sum. */
const suiteSum = "h1:w5d+gBj0uUX/DAN+hInQMeUxYTmec5m1Vvi2s/6V56s=";
const suiteModule = `connectrpc.com/conformance@${suiteVersion}`;
/** The protos that the server needs, and those that they import. */
const suiteProtos = ["config.proto", "server_compat.proto", "service.proto"];

const folder = join(repositoryRoot, "test/connect-conformance");
const binFolder = join(folder, "bin");
const runner = join(binFolder, "connectconformance");
const server = join(binFolder, "server.js");

/** One run of the suite against the server. */
export interface SuiteRun {
  readonly name: string;
  /** Arguments of the server. */
  readonly serverArgs: readonly string[];
  /** The cases by default; empty means all of them. */
  readonly patterns: readonly string[];
}

/** The runs of the suite. */
export const suiteRuns = {
  handlers: { name: "every RPC through its handler", serverArgs: [], patterns: [] },
  customStream: {
    name: "ServerStream as a feed",
    serverArgs: ["--custom-stream"],
    // Every case that calls ServerStream. The second pattern names the only case whose name does not show that.
    patterns: ["**/server-stream/**", "**/unexpected-compressed-message"],
  },
} as const satisfies Record<string, SuiteRun>;

/** Returns true when `go version` works. */
export async function hasGo(): Promise<boolean> {
  try {
    await runCommand("go", ["version"]);
    return true;
  } catch {
    return false;
  }
}

/** Fetches and builds the missing parts: minutes on the first run; seconds, and no network, on the next. */
export async function prepareSuite(): Promise<void> {
  const moduleFolder = await fetchModule();
  if (!(await isInstalled())) {
    // The only way to set the folder of `go install`.
    process.env.GOBIN = binFolder;
    await runCommand("go", ["install", suiteModule.replace("@", "/cmd/connectconformance@")]);
  }
  await generateCode(join(moduleFolder, "proto"));
  await runCommand("tsc", ["--noEmit", "--project", folder]);
  await bundleServer();
}

/** The runner starts the server forty times and waits a few seconds for it, in which a busy machine did not start the source. */
async function bundleServer(): Promise<void> {
  await using bundle = await rolldown({ cwd: repositoryRoot, input: join(folder, "server.ts"), platform: "node" });
  await bundle.write({ file: server });
}

/** Returns how many cases passed. Throws unless all of them did. `suiteArgs` are for the runner. */
export async function runSuite(run: SuiteRun, suiteArgs: readonly string[]): Promise<number> {
  const asksForCases = suiteArgs.some((argument) => argument.startsWith("--run"));
  const patterns = asksForCases ? [] : run.patterns.map((pattern) => `--run=${pattern}`);
  try {
    return readAllPassed(run, await runCases(run, [...patterns, ...suiteArgs]));
  } catch (error) {
    const again = findRaces(String(error));
    if (asksForCases || again.length === 0) {
      throw error;
    }
    console.error(`${run.name}: ${again.join(", ")} failed; once more by itself\n${String(error)}`);
    const oneByOne = again.map((name) => `--run=${name}`);
    readAllPassed(run, await runCases(run, ["--trace", ...oneByOne]));
    return readWanted(String(error)) ?? 0;
  }
}

/**
 * Returns the failed cases if all of them may be lost races. Client and server of these cases have the same deadline, and
 * either may give up first: one in some hundred thousand such cases fails. Returns an empty list when others or too many
 * failed.
 */
function findRaces(printed: string): readonly string[] {
  const failed = [...printed.matchAll(/^FAILED: (\S+):$/gm)].map(([, name = ""]) => name);
  return failed.length <= racesMax && failed.every((name) => name.startsWith("Timeouts/")) ? failed : [];
}

const racesMax = 2;

async function runCases(run: SuiteRun, caseArgs: readonly string[]): Promise<string> {
  const config = `--conf=${join(folder, "conformance.yaml")}`;
  const command = [process.execPath, server, ...run.serverArgs];
  return await runCommand(runner, ["--mode=server", config, "--verbose", ...caseArgs, "--", ...command]);
}

function readAllPassed(run: SuiteRun, printed: string): number {
  const wanted = readWanted(printed);
  const passed = readCount(printed, /^(\d+) passed, 0 failed$/m);
  // The runner does not fail because of cases that it could not run.
  if (passed === undefined || passed === 0 || passed !== wanted) {
    throw new Error(`${run.name}: ${wanted} cases were to be run, ${passed} passed\n${printed}`);
  }
  return passed;
}

function readWanted(printed: string): number | undefined {
  return readCount(printed, /^Filtered tests to (\d+) /m) ?? readCount(printed, /^Computed (\d+) test case /m);
}

/** Returns the folder of the module in Go's cache. */
async function fetchModule(): Promise<string> {
  const printed = await runCommand("go", ["mod", "download", "-json", suiteModule]);
  const { Dir: moduleFolder, Sum: sum } = JSON.parse(printed) as { Dir: string; Sum: string };
  if (sum !== suiteSum) {
    throw new Error(`${suiteModule} has the checksum ${sum} instead of ${suiteSum}: do not run it, find out why`);
  }
  return moduleFolder;
}

/** Asks the runner, because Go itself would need the network. */
async function isInstalled(): Promise<boolean> {
  try {
    return (await runCommand(runner, ["--version"])).trim().endsWith(` ${suiteVersion}`);
  } catch {
    return false;
  }
}

async function generateCode(protoFolder: string): Promise<void> {
  const paths = suiteProtos.map((name) => join(protoFolder, "connectrpc/conformance/v1", name));
  const where = ["--template", join(folder, "buf.gen.yaml"), "--output", folder];
  await runCommand("buf", ["generate", protoFolder, ...where, ...paths.flatMap((path) => ["--path", path])]);
}

function readCount(printed: string, pattern: RegExp): number | undefined {
  const count = pattern.exec(printed)?.[1];
  return count === undefined ? undefined : Number(count);
}
