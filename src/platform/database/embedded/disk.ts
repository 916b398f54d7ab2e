// Finds out whether the disk is why the embedded Postgres failed: full, read-only, or of another user.

import { accessSync, constants, existsSync } from "node:fs";
import { dirname, resolve } from "node:path";

const fix = "name another directory with --set database.dir=<path> (RUNNEL_DATABASE_DIR)";

/**
 * Returns the problem of the disk and its fix, or undefined when the failure `message` has another reason: for a missing folder on a
 * read-only disk, Node reports ENOENT.
 */
export function findDiskProblem(directory: string, message: string): string | undefined {
  const path = resolve(directory);
  if (/ENOSPC|no space left on device|check free disk space/i.test(message)) {
    return `The disk of ${path} is full: make room for at least 256 MiB, or ${fix}.`;
  }
  const existing = nearestExisting(path);
  try {
    accessSync(existing, constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    const isReadOnly = (error as NodeJS.ErrnoException).code === "EROFS";
    const why = isReadOnly ? "is on a read-only disk" : "may not be written to by this user";
    return `${existing} ${why}, and the database would be in ${path}: ${fix}.`;
  }
}

/** Returns the path, or the nearest directory around it that exists. */
export function nearestExisting(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestExisting(dirname(path));
}
