// The commands as users run them: processes of their own, in an environment and a folder of their own.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { authEnvironment, keyOf } from "../harness/credentials.ts";
import { compileCacheEnvironment, programPath } from "../harness/program.ts";
import { until } from "../harness/wait.ts";

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunningCommand {
  readonly child: ChildProcess;
  /** What was written so far. */
  readonly stdout: () => string;
  readonly stderr: () => string;
  readonly ended: Promise<Outcome>;
}

export interface CommandPlace {
  readonly environment?: Readonly<Record<string, string>>;
  readonly directory?: string;
  /** Standard input. */
  readonly input?: string;
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

/** A script for a shell; `$runnel` in it is the command line's beginning. */
export function runShell(script: string, place: CommandPlace = {}): Promise<Outcome> {
  const environment = { runnel: `${process.execPath} ${programPath}`, ...place.environment };
  return startProgram("bash", ["-c", script], { ...place, environment }).ended;
}

/** What a user pastes into a shell that waits for lines. */
export function pasteInto(shell: "bash" | "sh", pasted: string): Promise<Outcome> {
  return startProgram(shell, [], { input: pasted }).ended;
}

/** On a terminal, of which `stdout` holds everything that it was sent. `input` is typed when the program asks. */
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

/** Starts any program on a terminal of its own, whose foreground process group it leads. */
export function startInTerminal(line: readonly string[], place: CommandPlace = {}): TerminalCommand {
  const quoted = line.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
  const environment = { TERM: "xterm", ...place.environment };
  // Without `exec` the shell of `script` stands between and gets each signal as well.
  const running = spawnProgram("script", ["-qec", `exec ${quoted}`, "/dev/null"], { ...place, environment });
  return { ...running, type: (text) => void running.child.stdin?.write(text) };
}

function startProgram(program: string, words: readonly string[], place: CommandPlace): RunningCommand {
  const running = spawnProgram(program, words, place);
  running.child.stdin?.end(place.input ?? "");
  return running;
}

function spawnProgram(program: string, words: readonly string[], place: CommandPlace): RunningCommand {
  const child = spawn(program, words, {
    stdio: ["pipe", "pipe", "pipe"],
    env: { ...baseEnvironment(), ...place.environment },
    ...(place.directory !== undefined && { cwd: place.directory }),
  });
  // Who does not read it has ended, which is told in its own way.
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

/** What `serve` needs to start, and what the other commands need to call it. */
function baseEnvironment(): NodeJS.ProcessEnv {
  const { PATH, HOME } = process.env;
  const machine = { PATH, HOME, TMPDIR: tmpdir(), ...compileCacheEnvironment };
  return { ...machine, ...authEnvironment, RUNNEL_API_KEY: keyOf(), RUNNEL_SERVER_HOST: "127.0.0.1" };
}

/** A folder that is removed with the test. An embedded Postgres may live in it. */
export async function ownFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "runnel-cli-"));
  // Postgres of root runs under another account, which has to pass through to its data.
  await chmod(folder, 0o711);
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
