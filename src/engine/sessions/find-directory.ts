// Finds a directory that a client names, without and with its last parts.

import { readlink, realpath, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { invalidField } from "../../platform/base/fault.ts";

/** The maximum number of links in a path that leads nowhere, as in Linux. */
const danglingLinksMax = 40;

/**
 * Returns the real path of the part of a path that exists, with the rest of the path. A link to nothing counts as what it names: so
 * a refusal of a link is the same whether its target exists or not.
 */
export async function reach(path: string): Promise<string> {
  // One count for all of the path: links that name themselves would otherwise double the work with each of them.
  let linksLeft = danglingLinksMax;
  const follow = async (next: string): Promise<string> => {
    try {
      return await realpath(next);
    } catch {
      if (dirname(next) === next) {
        return resolve(next);
      }
      const place = join(await follow(dirname(next)), basename(next));
      const target = linksLeft > 0 ? await readlink(place).catch(() => undefined) : undefined;
      linksLeft -= target === undefined ? 0 : 1;
      return target === undefined ? place : await follow(resolve(dirname(place), target));
    }
  };
  return await follow(path);
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
