// The Pythons of `npm run conformance`: virtual environments with the packages that a file lists, made once.

import { createHash } from "node:crypto";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type PythonEnvironment, stampOf } from "../test/external/programs.ts";
import { runCommand } from "./run-command.ts";

/** Makes the environment unless it has these packages. Prints why it cannot; the parts that need Python are then left out. */
export async function preparePython(environment: PythonEnvironment): Promise<void> {
  const { folder, packages } = environment;
  const stamp = stampOf(environment);
  const wanted = createHash("sha256")
    .update(await readFile(packages))
    .digest("hex");
  if ((await readFile(stamp, "utf8").catch(() => "")) === wanted) {
    return;
  }
  console.log(`preparing ${folder}`);
  try {
    await rm(folder, { recursive: true, force: true });
    await runCommand("python3", ["-m", "venv", folder]);
    const pip = [
      "-m",
      "pip",
      "install",
      "--quiet",
      "--disable-pip-version-check",
      "--only-binary",
      ":all:",
      "--no-deps",
    ];
    await runCommand(join(folder, "bin/python"), [...pip, "-r", packages]);
    await writeFile(stamp, wanted);
  } catch (error) {
    console.error(`Python was not prepared: ${error instanceof Error ? error.message : String(error)}`);
  }
}
