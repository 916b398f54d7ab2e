// Where the signers' languages are. What a machine lacks is left out there, and that is told; CI has to have them.

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { leaveOut } from "../../harness/leave-out.ts";

declare module "vitest" {
  export interface ProvidedContext {
    hasGo: boolean;
    /** One that has the package `cryptography`; empty when there is none. */
    python: string;
  }
}

/** Made by `.ci/run`, so that nothing is installed into the system's own Python. */
const ownPython = join(import.meta.dirname, ".venv/bin/python");

export function setup(project: TestProject): void {
  project.provide("hasGo", runs("go", ["version"]) || leaveOut("TEST_GO", goWords));
  const python = [ownPython, "python3"].find((each) => runs(each, ["-c", "import cryptography"]));
  project.provide("python", python ?? (leaveOut("TEST_PYTHON", pythonWords) || ""));
}

const goWords = "the signer in Go is left out, for there is no Go; to have it: https://go.dev/dl/";
const pythonWords =
  "the signer in Python is left out, for there is no Python with `cryptography`; to have it: pip install cryptography";

function runs(program: string, args: readonly string[]): boolean {
  const isMissing = program.includes("/") && !existsSync(program);
  return !isMissing && spawnSync(program, args, { stdio: "ignore" }).status === 0;
}
