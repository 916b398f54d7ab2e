import { homedir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { inject } from "vitest";
import { repositoryRoot, runCommand } from "../../../scripts/run-command.ts";
import { openFolder } from "../../fixtures.ts";
import { keyOf } from "../../harness/credentials.ts";
import { type Running, runProgram, startProgram } from "../program.ts";

export interface Language {
  readonly name: string;
  readonly isHere: boolean;
  /** Whether its SDK knows artifact results. */
  readonly hasArtifacts: boolean;
  /** Runs long before the first test, since compilers are slow. */
  prepare(): Promise<void>;
  /** Starts the runner, which ends with the test. */
  start(url: string): Promise<Running>;
}

const python = inject("python");

const pythonBase = {
  isHere: python !== "",
  hasArtifacts: true,
  prepare: async () => {},
} as const;

export const typescript: Language = {
  name: "TypeScript",
  isHere: true,
  hasArtifacts: true,
  prepare: async () => {},
  start: async (url) =>
    startProgram(process.execPath, [pathOf("typescript/runner.ts")], { environment: environmentOf(url) }),
};

export const go: Language = {
  name: "Go",
  isHere: inject("hasGo"),
  hasArtifacts: true,
  prepare: async () => {
    await runCommand("buf", ["generate", "--template", "test/external/runners/go/buf.gen.yaml"]);
  },
  start: async (url) => {
    const folder = await openFolder();
    const program = join(folder, "runner");
    // Go caches compiled packages in the user's home.
    await runProgram("go", ["build", "-C", pathOf("go"), "-o", program, "."], { environment: { HOME: homedir() } });
    return startProgram(program, [], { environment: environmentOf(url) });
  },
};

export const pythonClient: Language = {
  ...pythonBase,
  name: "Python",
  start: async (url) => {
    const environment = { ...environmentOf(url), PYTHONPATH: join(repositoryRoot, "clients/python") };
    return startProgram(python, [pathOf("python-client/runner.py")], { environment });
  },
};

/** The worker of clients/go, which has its stubs in git. */
export const goModule: Language = {
  name: "Go, with the module's worker",
  isHere: inject("hasGo"),
  hasArtifacts: true,
  prepare: async () => {},
  start: async (url) => {
    const folder = await openFolder();
    const program = join(folder, "runner");
    const words = ["build", "-C", join(repositoryRoot, "clients/go"), "-o", program, "./internal/talk"];
    await runProgram("go", words, { environment: { HOME: homedir() } });
    return startProgram(program, [], { environment: environmentOf(url) });
  },
};

export type Era = "spec" | "ledger" | "4.11";

/** A plugin under the adapter, for an era without a release, with fakes of that era's classes. */
export function pythonOfEra(era: Era, more: NodeJS.ProcessEnv = {}): Language {
  const sdk = join(repositoryRoot, "test/fakes/langbot-sdk");
  return {
    ...pythonBase,
    name: `Python, era ${era}`,
    start: async (url) => startPlugin(url, "agent-runner", [sdk], { FAKE_LANGBOT_ERA: era, ...more }),
  };
}

/** A plugin under the adapter, with the released SDK. */
export const pythonInstalled: Language = {
  ...pythonBase,
  name: `Python, ${inject("langbotSdk")}`,
  hasArtifacts: false,
  start: async (url) => startPlugin(url, "runner", []),
};

function startPlugin(url: string, plugin: string, folders: readonly string[], more: NodeJS.ProcessEnv = {}): Running {
  const clients = ["clients/python", "clients/langbot"].map((path) => join(repositoryRoot, path));
  const paths = [...clients, ...folders];
  const environment = { ...environmentOf(url), ...more, PYTHONPATH: paths.join(delimiter) };
  return startProgram(python, ["-m", "runnel_langbot", pluginOf(plugin), "--url", url], { environment });
}

/** The folder of a plugin: by name for those of the tests, by path for others. */
export function pluginOf(plugin: string): string {
  return resolve(pathOf("python"), plugin);
}

export function environmentOf(url: string): NodeJS.ProcessEnv {
  return { RUNNEL_URL: url, RUNNEL_API_KEY: keyOf(), PYTHONDONTWRITEBYTECODE: "1" };
}

function pathOf(file: string): string {
  return join(import.meta.dirname, file);
}
