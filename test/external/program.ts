// Programs of the system. A missing program fails its test with the command that installs it; no test is skipped.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { onTestFinished } from "vitest";

export interface Finished {
  readonly stdout: Buffer;
  readonly stderr: string;
  readonly exitCode: number | null;
}

export interface Running {
  readonly pid: number;
  /** All output so far. */
  readonly stdout: () => string;
  readonly stderr: () => string;
  readonly finished: Promise<Finished>;
}

/** The Debian package of each program; other systems use the same name or a similar one. */
const packages: Readonly<Record<string, string>> = {
  curl: "curl",
  openssl: "openssl",
  bash: "bash",
  bwrap: "bubblewrap",
  nginx: "nginx-light",
  php: "php-cli",
};

/** Starts a program, which is killed at the end of the test. */
export function startProgram(
  name: string,
  args: readonly string[],
  options: {
    readonly input?: Uint8Array | string;
    readonly environment?: NodeJS.ProcessEnv;
    readonly directory?: string;
  } = {},
): Running {
  const child = spawn(name, args, {
    env: { PATH: process.env.PATH, ...options.environment },
    ...(options.directory !== undefined && { cwd: options.directory }),
  });
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => stdout.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => stderr.push(chunk));
  // A program may end before it has read all its input.
  child.stdin.on("error", () => {});
  child.stdin.end(options.input);
  const finish = async (): Promise<Finished> => {
    await once(child, "close").catch((cause: unknown) => {
      throw new Error(`${name} is not installed: run \`apt-get install -y ${packages[name] ?? name}\``, { cause });
    });
    return { stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr).toString(), exitCode: child.exitCode };
  };
  const finished = finish();
  // Callers that await it get the error; a test that has already failed does not.
  finished.catch(() => {});
  return {
    pid: child.pid ?? 0,
    stdout: () => Buffer.concat(stdout).toString(),
    stderr: () => Buffer.concat(stderr).toString(),
    finished,
  };
}

/** Rejects unless the program succeeds. */
export async function runProgram(...call: Parameters<typeof startProgram>): Promise<Finished> {
  const finished = await startProgram(...call).finished;
  if (finished.exitCode !== 0) {
    throw new Error(`${call[0]} ended with ${finished.exitCode}: ${finished.stderr}`);
  }
  return finished;
}
