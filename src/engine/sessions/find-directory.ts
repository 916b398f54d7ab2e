// Finds a directory that a client names, without and with its last parts.

import { realpath, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { invalidField } from "../../platform/base/fault.ts";

/** Returns the real path of the part of a path that exists, with the rest of the path. */
export async function reach(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    return codeOf(error) === "ENOENT" && dirname(path) !== path
      ? join(await reach(dirname(path)), basename(path))
      : resolve(path);
  }
}

/**
 * Returns the real path of a directory. Uses the words of the Agent Runner document.
 * @throws Fault INVALID_ARGUMENT when it does not exist, or is not a directory.
 */
export async function findDirectory(path: string): Promise<string> {
  const found = await Promise.all([stat(path), realpath(path)]).catch((error: unknown) => {
    throw invalidField("work_dir", `not accessible: stat ${path}: ${describe(error)}`);
  });
  const [stats, real] = found;
  if (!stats.isDirectory()) {
    throw invalidField("work_dir", "not a directory");
  }
  return real;
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}

/** Returns the reason of a system error in words. */
export function describe(error: unknown): string {
  const code = codeOf(error);
  if (code === "ENOENT") {
    return "no such file or directory";
  }
  if (code === "EACCES") {
    return "permission denied";
  }
  return String(code ?? "unknown error");
}
