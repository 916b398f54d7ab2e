// Finds the programs of other languages. Tests of a missing language are skipped with a notice; CI must have them all.

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { leaveOut } from "../harness/leave-out.ts";

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

/** Made by `.ci/run`, so that nothing is installed into the system's own Python. */
const ownPython = join(import.meta.dirname, ".venv/bin/python");
const packages = "cryptography, grpc, langbot_plugin, pydantic, yaml";

export function setup(project: TestProject): void {
  project.provide("hasGo", runs("go", ["version"]) || leaveOut("TEST_GO", goWords));
  project.provide("hasRust", runs("cargo", ["--version"]) || leaveOut("TEST_RUST", rustWords));
  const python = [ownPython, "python3"].find((each) => runs(each, ["-c", `import ${packages}`]));
  project.provide("python", python ?? (leaveOut("TEST_PYTHON", pythonWords) || ""));
  project.provide("langbotSdk", nameSdk(python));
  const hasJava = runs("javac", ["-version"]) && runs("mvn", ["-version"]);
  project.provide("hasJava", hasJava || leaveOut("TEST_JAVA", javaWords));
}

const goWords = "what is in Go is left out, for there is no Go; to have it: https://go.dev/dl/";
const rustWords = "what is in Rust is left out, for there is no cargo; to have it: https://rustup.rs";
const pythonWords =
  `what is in Python is left out, for there is no Python with ${packages}; to have it: ` +
  "python3 -m venv test/external/.venv && test/external/.venv/bin/pip install --no-deps -r test/external/python.txt";
const javaWords =
  "what is in Java is left out, for there is no JDK with Maven; to have it: apt-get install default-jdk-headless maven";

function nameSdk(python: string | undefined): string {
  if (python === undefined) {
    return "";
  }
  const script = "from importlib.metadata import version; print('langbot-plugin', version('langbot-plugin'))";
  return spawnSync(python, ["-c", script], { encoding: "utf8" }).stdout.trim();
}

function runs(program: string, args: readonly string[]): boolean {
  const isMissing = program.includes("/") && !existsSync(program);
  return !isMissing && spawnSync(program, args, { stdio: "ignore" }).status === 0;
}
