// Starts a program of node_modules/.bin or of the machine and waits for it. A non-zero exit is an error that carries everything
// the program printed, so a caller prints nothing on success.

import { spawn } from "node:child_process";
import { delimiter, join } from "node:path";

/** The root of the repository; every path in the scripts is relative to it. */
export const repositoryRoot: string = join(import.meta.dirname, "..");

/** Runs `command` in the repository's root and returns its standard output. Throws when its exit code is not 0. */
export async function runCommand(command: string, args: readonly string[]): Promise<string> {
  const child = spawn(command, args, { ...options(), stdio: ["ignore", "pipe", "pipe"] });
  const printed = { stdout: "", all: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    printed.stdout += text;
    printed.all += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    printed.all += text;
  });
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
  if (exitCode !== 0) {
    throw new Error(`${command} ${args.join(" ")} ended with ${exitCode}\n${printed.all}`.trimEnd());
  }
  return printed.stdout;
}

/** Runs `command` as `runCommand` does, but shows its output while it runs. Returns its exit code. */
export async function showCommand(command: string, args: readonly string[]): Promise<number | null> {
  const child = spawn(command, args, { ...options(), stdio: "inherit" });
  return await new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
}

function options() {
  return {
    cwd: repositoryRoot,
    env: {
      ...process.env,
      PATH: `${join(repositoryRoot, "node_modules", ".bin")}${delimiter}${process.env.PATH ?? ""}`,
    },
    // Windows starts the .cmd files of node_modules/.bin only through a shell. The arguments are ours, never a user's.
    shell: process.platform === "win32",
  };
}
