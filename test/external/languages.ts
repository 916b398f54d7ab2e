// Gives the tests the languages that the machine has. Tests of a missing one are skipped, and a line says how to bring it;
// `npm run conformance` decides whether that is a failure.

import { spawnSync } from "node:child_process";
import type { TestProject } from "vitest/node";
import { findPython, programs } from "./programs.ts";

declare module "vitest" {
  export interface ProvidedContext {
    hasGo: boolean;
    hasRust: boolean;
    /** A Python that has the packages of test/external/python.txt; empty when none was found. */
    python: string;
    /** The installed SDK of LangBot, for the names of tests. */
    langbotSdk: string;
    /** Whether there is a JDK with Maven. */
    hasJava: boolean;
  }
}

export function setup(project: TestProject): void {
  project.provide("hasGo", has("go"));
  project.provide("hasRust", has("rust"));
  project.provide("hasJava", has("java"));
  const python = findPython();
  project.provide("python", python ?? "");
  project.provide("langbotSdk", python === undefined ? "" : nameSdk(python));
  if (python === undefined) {
    report("python");
  }
}

function has(name: "go" | "rust" | "java"): boolean {
  const isHere = programs[name].isHere();
  if (!isHere) {
    report(name);
  }
  return isHere;
}

function report(name: keyof typeof programs): void {
  process.stderr.write(`without ${name} its tests are left out: ${programs[name].bring}\n`);
}

function nameSdk(python: string): string {
  const script = "from importlib.metadata import version; print('langbot-plugin', version('langbot-plugin'))";
  return spawnSync(python, ["-c", script], { encoding: "utf8" }).stdout.trim();
}
