// Builds the program once for a test run, and the console unless it is fresh. The program starts several times as fast as the
// source, and tests start it hundreds of times.

import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { buildProgram } from "../../scripts/build-program.ts";
import { repositoryRoot } from "../../scripts/run-command.ts";
import { freshenConsole } from "../../src/cli/checkout-console.ts";

declare module "vitest" {
  export interface ProvidedContext {
    program: string;
  }
}

/** Belongs to this run alone: another run in the same checkout may have other source. */
const folder = join(repositoryRoot, "dist-tests", String(process.pid));

export async function setup(project: TestProject): Promise<void> {
  const problem = await freshenConsole(() => {});
  if (problem !== undefined) {
    throw new Error(problem);
  }
  project.provide("program", await buildProgram(folder));
}

export async function teardown(): Promise<void> {
  await rm(folder, { recursive: true, force: true });
}
