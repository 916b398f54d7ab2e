// File ownership and access. It matters when the service runs as root: Postgres refuses to run as root, and the kernel's limits
// do not apply to root.

import { realpathSync, type Stats, statSync } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

/** The user and group that own a file. */
export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** Returns true when this process runs as root. */
export function isRoot(): boolean {
  return process.getuid?.() === 0;
}

const readBit = 0o4;
const enterBit = 0o1;

/**
 * Returns the first folder on the way to `path` (inclusive) that the user may not enter. Missing folders count as open: we
 * create them.
 */
export function findClosedFolder(path: string, user: Owner): string | undefined {
  return listAncestors(resolveExisting(path)).find((folder) => {
    const stats = statSync(folder, { throwIfNoEntry: false });
    return stats !== undefined && !isAllowed(stats, user, enterBit);
  });
}

/** Returns true when the user may read the file, or list and enter the folder. */
export function canRead(path: string, user: Owner): boolean {
  const stats = statSync(path);
  return isAllowed(stats, user, stats.isDirectory() ? readBit | enterBit : readBit);
}

/** Returns the real path of `path`. Its last parts may be missing. */
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

/** Returns `path` and all its parents, the root first. */
export function listAncestors(path: string): string[] {
  const parent = dirname(path);
  return parent === path ? [path] : [...listAncestors(parent), path];
}

/** When running as root, gives a file or folder that was created in `directory` to the owner of `directory`. */
export async function giveToOwnerOf(directory: FileHandle, made: FileHandle): Promise<void> {
  if (isRoot()) {
    await give(made, await directory.stat());
  }
}

/** Changes the owner of a file. Ignores a refusal: some containers take this right from root, or lack such users. */
export async function give(made: FileHandle, { uid, gid }: Owner): Promise<void> {
  try {
    await made.chown(uid, gid);
  } catch (error) {
    if (codeOf(error) !== "EPERM" && codeOf(error) !== "EINVAL") {
      throw error;
    }
  }
}

/** Checks the mode bits only. */
function isAllowed(stats: Stats, user: Owner, bits: number): boolean {
  const shift = stats.uid === user.uid ? 6 : stats.gid === user.gid ? 3 : 0;
  return ((stats.mode >> shift) & bits) === bits;
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
