// The commands as users run them: in processes of their own, in an environment and a folder of their own.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Config } from "../../src/platform/config/keys.ts";
import { openFolder, openProvider } from "../fixtures.ts";
import { authEnvironment, keyOf } from "../harness/credentials.ts";
import { compileCacheEnvironment, programPath } from "../harness/program.ts";
import { startService } from "../harness/service.ts";
import { until } from "../harness/wait.ts";

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunningCommand {
  readonly child: ChildProcess;
  /** Returns the output so far. */
  readonly stdout: () => string;
  readonly stderr: () => string;
  readonly ended: Promise<Outcome>;
}

export interface CommandPlace {
  readonly environment?: Readonly<Record<string, string>>;
  readonly directory?: string;
  /** Text for standard input. */
  readonly input?: string;
  /** Leaves standard input open, for the test to write to. */
  readonly keepsInput?: boolean;
}

export interface TerminalCommand extends RunningCommand {
  /** Types at the terminal: `\u0003` is Ctrl-C. */
  type(text: string): void;
}

/** Starts `runnel` with these words; killed with the test if it still runs then. */
export function startCommand(words: readonly string[], place: CommandPlace = {}): RunningCommand {
  return startProgram(process.execPath, [programPath, ...words], place);
}

export function runCommand(words: readonly string[], place: CommandPlace = {}): Promise<Outcome> {
  return startCommand(words, place).ended;
}

/** Runs a shell script. `$runnel` in it is the beginning of the command line. */
export function runShell(script: string, place: CommandPlace = {}): Promise<Outcome> {
  const environment = { runnel: `${process.execPath} ${programPath}`, ...place.environment };
  return startProgram("bash", ["-c", script], { ...place, environment }).ended;
}

/** Pastes text into a shell that waits for lines, as a user does. */
export function pasteInto(shell: "bash" | "sh", pasted: string): Promise<Outcome> {
  return startProgram(shell, [], { input: pasted }).ended;
}

/**
 * Runs `runnel` on a terminal. `stdout` holds everything that the terminal received. `input` is typed when the program asks.
 */
export async function runInTerminal(words: readonly string[], place: CommandPlace = {}): Promise<Outcome> {
  const terminal = startInTerminal([process.execPath, programPath, ...words], place);
  if (place.input !== undefined) {
    let isOver = false;
    void terminal.ended.then(() => {
      isOver = true;
    });
    await until("the program to ask", () => isOver || terminal.stdout().includes("[y/N]"), askedWithinMs);
    terminal.type(place.input);
  }
  terminal.child.stdin?.end();
  return await terminal.ended;
}

const askedWithinMs = 50_000;

/** Starts any program on a terminal of its own. The program leads the foreground process group. */
export function startInTerminal(line: readonly string[], place: CommandPlace = {}): TerminalCommand {
  const quoted = line.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
  const environment = { TERM: "xterm", ...place.environment };
  // Without `exec` the shell of `script` would be between, and would get each signal as well.
  const running = spawnProgram("script", ["-qec", `exec ${quoted}`, "/dev/null"], { ...place, environment });
  return { ...running, type: (text) => void running.child.stdin?.write(text) };
}

function startProgram(program: string, words: readonly string[], place: CommandPlace): RunningCommand {
  const running = spawnProgram(program, words, place);
  if (place.keepsInput !== true) {
    running.child.stdin?.end(place.input ?? "");
  }
  return running;
}

function spawnProgram(program: string, words: readonly string[], place: CommandPlace): RunningCommand {
  const child = spawn(program, words, {
    stdio: ["pipe", "pipe", "pipe"],
    env: { ...baseEnvironment(), ...place.environment },
    ...(place.directory !== undefined && { cwd: place.directory }),
  });
  // A program that does not read its input has ended; the test sees that elsewhere.
  child.stdin.on("error", () => {});
  const texts = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    texts.stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    texts.stderr += text;
  });
  const ended = once(child, "close").then(([code]: (number | null)[]) => ({ code: code ?? null, ...texts }));
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  return { child, stdout: () => texts.stdout, stderr: () => texts.stderr, ended };
}

/** The variables that `serve` needs to start and that the other commands need to call it. */
function baseEnvironment(): NodeJS.ProcessEnv {
  const { PATH, HOME } = process.env;
  const machine = { PATH, HOME, TMPDIR: tmpdir(), ...compileCacheEnvironment };
  return {
    ...machine,
    ...authEnvironment,
    RUNNEL_API_KEY: keyOf(),
    // The profiles of the person at this machine are not those of tests.
    XDG_CONFIG_HOME: join(tmpdir(), "config"),
    RUNNEL_SERVER_HOST: "127.0.0.1",
    RUNNEL_SERVER_PROCESSES: "1",
  };
}

/** Starts a service whose OpenAI is a provider of the test. */
export async function startWithProvider(flags: Partial<Config> = {}) {
  const provider = await openProvider();
  const { url } = await startService({ openaiKey: "sk-test", openaiBaseUrl: provider.baseUrl, ...flags });
  return { provider, url };
}

/** Makes a folder that is removed with the test. It may hold an embedded Postgres. */
export async function ownFolder(): Promise<string> {
  const folder = await openFolder();
  // When root starts Postgres, it runs under another account, which needs to reach its data.
  await chmod(folder, 0o711);
  return folder;
}
