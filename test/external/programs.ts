// The programs of others that the tests of this folder need: whether the machine has each, and the one line that brings it.

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

export interface Program {
  readonly isHere: () => boolean;
  /** What a person does to have it. */
  readonly bring: string;
}

/** A virtual environment. `npm run conformance` makes it, so that nothing is installed into the system's own Python. */
export interface PythonEnvironment {
  readonly folder: string;
  /** The file with its packages, and all their dependencies. */
  readonly packages: string;
}

/** The environment of most Python tests. */
const python: PythonEnvironment = environmentOf(import.meta.dirname);

/** That of the programs for OpenAI's API, whose packages do not fit the others. */
const openaiClients: PythonEnvironment = environmentOf(join(import.meta.dirname, "openai/clients"));

/** That of the client and the server of MCP. */
const mcp: PythonEnvironment = environmentOf(join(import.meta.dirname, "mcp"));

export const pythonEnvironments = { python, "openai-clients": openaiClients, "mcp-python": mcp } as const;

/** The Python that has the programs for OpenAI's API. */
export const openaiClientsPython: string = join(openaiClients.folder, "bin/python");

/** The Python that has the client and the server of MCP. */
export const mcpPython: string = join(mcp.folder, "bin/python");

function environmentOf(folder: string): PythonEnvironment {
  return { folder: join(folder, ".venv"), packages: join(folder, "python.txt") };
}

/** The file that says which packages an environment has. It is written last. */
export function stampOf({ folder }: PythonEnvironment): string {
  return join(folder, "packages.sha256");
}

const imports = "import cryptography, grpc, langbot_plugin, pydantic, yaml, openai, anthropic";

/** Returns the Python that has the packages of `python.txt`; undefined when none was found. */
export function findPython(): string | undefined {
  return [join(python.folder, "bin/python"), "python3"].find((each) => runs(each, ["-c", imports]));
}

export const programs = {
  "a2a-tck": {
    isHere: () => process.env.A2A_TCK_DIR !== undefined,
    bring: "name a checkout, as test/external/a2a/tck.test.ts says",
  },
  "anthropic-skills": {
    isHere: () => process.env.ANTHROPIC_SKILLS_DIR !== undefined,
    bring: "name a checkout of github.com/anthropics/skills by ANTHROPIC_SKILLS_DIR",
  },
  bubblewrap: packaged("bwrap", "bubblewrap"),
  chromium: {
    isHere: () => existsSync(process.env.CHROMIUM ?? "/usr/bin/chromium"),
    bring: "apt-get install chromium, or CHROMIUM=<the program>",
  },
  curl: packaged("curl"),
  "durable-streams": {
    isHere: () => process.env.DURABLE_STREAMS_DIR !== undefined,
    bring: "name a checkout of github.com/durable-streams/durable-streams by DURABLE_STREAMS_DIR",
  },
  go: { isHere: () => runs("go", ["version"]), bring: "https://go.dev/dl/" },
  java: {
    isHere: () => runs("javac", ["-version"]) && runs("mvn", ["-version"]),
    bring: "apt-get install default-jdk-headless maven",
  },
  langbot: {
    isHere: () =>
      ["LANGBOT_SDK_DIR", "LANGBOT_LOCAL_AGENT_DIR", "LANGBOT_AGENT_RUNNER_DIR"].every((name) => process.env[name]),
    bring: "name the checkouts, as test/external/runners/README.md says",
  },
  "mcp-python": {
    isHere: () => existsSync(stampOf(mcp)),
    bring: "apt-get install python3-venv git, and access to pypi.org",
  },
  nginx: packaged("nginx", "nginx-light", "-v"),
  "openai-clients": {
    isHere: () => existsSync(stampOf(openaiClients)),
    bring: "apt-get install python3-venv, and access to pypi.org",
  },
  openssl: packaged("openssl", "openssl", "version"),
  python: {
    isHere: () => findPython() !== undefined,
    bring: "apt-get install python3-venv, and access to pypi.org",
  },
  rust: { isHere: () => runs("cargo", ["--version"]), bring: "https://rustup.rs" },
  tini: packaged("tini"),
} satisfies Readonly<Record<string, Program>>;

export type ProgramName = keyof typeof programs;

function packaged(name: string, debianPackage = name, question = "--version"): Program {
  return { isHere: () => runs(name, [question]), bring: `apt-get install ${debianPackage}` };
}

function runs(program: string, args: readonly string[]): boolean {
  return spawnSync(program, args, { stdio: "ignore" }).status === 0;
}
