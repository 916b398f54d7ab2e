// `run --work-dir` with a missing directory: makes it after a person confirms.

import { existsSync, mkdirSync } from "node:fs";
import { ConnectError } from "@connectrpc/connect";
import { askYesNo, mayAsk } from "./ask.ts";
import { CommandError } from "./command-error.ts";
import { isExplained } from "./connect.ts";
import { explain } from "./failure.ts";
import { shellWord } from "./shell-word.ts";

/**
 * Calls the service, which decides whether the directory exists: it may run on another machine. When the service refuses a
 * directory that is missing here, makes it and calls again, or throws a usage error with the command that makes it.
 */
export async function withWorkDir<T>(path: string, asJson: boolean, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (!isMissing(error) || existsSync(path)) {
      throw error;
    }
    if (!mayAsk(asJson) || !(await askYesNo(`${path} does not exist. Create it?`))) {
      const fix = `mkdir -p ${shellWord(path)}`;
      throw new CommandError(`the directory of --work-dir does not exist: ${path}`, {
        reason: "WORK_DIR_MISSING",
        fix,
        exitCode: 2,
        cause: error,
      });
    }
  }
  makeDirectory(path);
  return await call();
}

function makeDirectory(path: string): void {
  try {
    mkdirSync(path, { recursive: true });
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new CommandError(`cannot make ${path}: ${why}`, { reason: "FILE_UNWRITABLE", cause });
  }
}

/** Returns false when the service would refuse the directory also if it existed. */
function isMissing(error: unknown): boolean {
  const { violations = [] } = error instanceof ConnectError && isExplained(error) ? explain(error) : {};
  return violations.some(({ field, description }) => field === "work_dir" && description.startsWith("not accessible"));
}
