// The Python of `npm run conformance`: a virtual environment with the packages of test/external/python.txt, made once.

import { createHash } from "node:crypto";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pythonFolder, pythonPackages } from "../test/external/programs.ts";
import { runCommand } from "./run-command.ts";

/** Makes the environment unless it has these packages. Prints why it cannot; the parts that need Python are then left out. */
export async function preparePython(): Promise<void> {
  const stamp = join(pythonFolder, "packages.sha256");
  const wanted = createHash("sha256")
    .update(await readFile(pythonPackages))
    .digest("hex");
  if ((await readFile(stamp, "utf8").catch(() => "")) === wanted) {
    return;
  }
  console.log(`preparing ${pythonFolder}`);
  try {
    await rm(pythonFolder, { recursive: true, force: true });
    await runCommand("python3", ["-m", "venv", pythonFolder]);
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
    await runCommand(join(pythonFolder, "bin/python"), [...pip, "-r", pythonPackages]);
    await writeFile(stamp, wanted);
  } catch (error) {
    console.error(`Python was not prepared: ${error instanceof Error ? error.message : String(error)}`);
  }
}
