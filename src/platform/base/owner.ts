// Whose files are, and who may reach them. Where the service is root, the difference matters: Postgres does not run as root, and
// the kernel's limits pass root by.

import { realpathSync, type Stats, statSync } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

export function isRoot(): boolean {
  return process.getuid?.() === 0;
}

const readBit = 0o4;
const enterBit = 0o1;

/** The first folder on the way to `path` (itself included) that the user may not enter. Missing folders are open: we make them. */
export function findClosedFolder(path: string, user: Owner): string | undefined {
  return listAncestors(resolveExisting(path)).find((folder) => {
    const stats = statSync(folder, { throwIfNoEntry: false });
    return stats !== undefined && !isAllowed(stats, user, enterBit);
  });
}

export function canRead(path: string, user: Owner): boolean {
  const stats = statSync(path);
  return isAllowed(stats, user, stats.isDirectory() ? readBit | enterBit : readBit);
}

/** The real path of `path`, of which the last parts need not exist yet. */
export function resolveExisting(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if (codeOf(error) !== "ENOENT" || dirname(path) === path) {
      throw error;
    }
    return join(resolveExisting(dirname(path)), basename(path));
  }
}

export function listAncestors(path: string): string[] {
  const parent = dirname(path);
  return parent === path ? [path] : [...listAncestors(parent), path];
}

/** Gives what was made in a directory to whom the directory belongs, as if its owner had made it. */
export async function giveToOwnerOf(directory: FileHandle, made: FileHandle): Promise<void> {
  if (isRoot()) {
    await give(made, await directory.stat());
  }
}

/** Root that may not give files away keeps them: in some containers it has lost that right, or there are no such users. */
export async function give(made: FileHandle, { uid, gid }: Owner): Promise<void> {
  try {
    await made.chown(uid, gid);
  } catch (error) {
    if (codeOf(error) !== "EPERM" && codeOf(error) !== "EINVAL") {
      throw error;
    }
  }
}

/** By modes alone. */
function isAllowed(stats: Stats, user: Owner, bits: number): boolean {
  const shift = stats.uid === user.uid ? 6 : stats.gid === user.gid ? 3 : 0;
  return ((stats.mode >> shift) & bits) === bits;
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
