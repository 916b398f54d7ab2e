// A Python virtual environment as users make one, in a folder of its own.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCommand } from "../../../scripts/run-command.ts";

export interface Environment {
  /** The folder of the environment and of files that belong to it. */
  readonly folder: string;
  /** The path of an installed program. */
  program(name: string): string;
  /** Runs `pip install` with these arguments. */
  install(...words: readonly string[]): Promise<void>;
  remove(): Promise<void>;
}

export async function makeEnvironment(): Promise<Environment> {
  const folder = await mkdtemp(join(tmpdir(), "runnel-python-"));
  const program = (name: string): string => join(folder, "venv/bin", name);
  await runCommand("python3", ["-m", "venv", join(folder, "venv")]);
  return {
    folder,
    program,
    install: async (...words) => {
      const pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
      await runCommand(program("python"), [...pip, ...words]);
    },
    remove: () => rm(folder, { recursive: true }),
  };
}
