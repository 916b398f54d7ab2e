// The runners of the tests as programs, one in each language. They do the same conversation: see README.md.

import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { inject, onTestFinished } from "vitest";
import { repositoryRoot, runCommand } from "../../../scripts/run-command.ts";
import { fillThirdParty } from "../../../scripts/third-party.ts";
import { keyOf } from "../../harness/credentials.ts";
import { type Running, runProgram, startProgram } from "../program.ts";

export interface Language {
  readonly name: string;
  readonly isHere: boolean;
  /** Whether what it is written with knows results of this type. */
  readonly hasArtifacts: boolean;
  /** Runs long before the first test: compilers take their time. */
  prepare(): Promise<void>;
  /** Ends with the test. */
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
    await ensureThirdParty();
    await runCommand("buf", ["generate", "--template", "test/external/runners/go/buf.gen.yaml"]);
  },
  start: async (url) => {
    const folder = await mkdtemp(join(tmpdir(), "runnel-runner-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const program = join(folder, "runner");
    // Go keeps what it has compiled in the user's home.
    await runProgram("go", ["build", "-C", pathOf("go"), "-o", program, "."], { environment: { HOME: homedir() } });
    return startProgram(program, [], { environment: environmentOf(url) });
  },
};

export type Era = "spec" | "ledger" | "4.11";

/** A plugin under the adapter, of one of the eras that no release has, under classes that stand for that era's. */
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
  const paths = [join(repositoryRoot, "clients/python"), ...folders];
  const environment = { ...environmentOf(url), ...more, PYTHONPATH: paths.join(delimiter) };
  return startProgram(python, ["-m", "runnel_langbot", pluginOf(plugin), "--url", url], { environment });
}

/** The folder of a plugin of the tests, by its name, or of another one, by its path. */
export function pluginOf(plugin: string): string {
  return resolve(pathOf("python"), plugin);
}

export function environmentOf(url: string): NodeJS.ProcessEnv {
  return { RUNNEL_URL: url, RUNNEL_API_KEY: keyOf(), PYTHONDONTWRITEBYTECODE: "1" };
}

/** `npm run generate` has filled it, as a rule. */
async function ensureThirdParty(): Promise<void> {
  if (!existsSync(join(repositoryRoot, "third_party"))) {
    await fillThirdParty();
  }
}

function pathOf(file: string): string {
  return join(import.meta.dirname, file);
}
