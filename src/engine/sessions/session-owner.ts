// Decides which user owns the sessions' own directories, and runs commands there, when the service is root. That user is not
// root: no limit of the kernel counts root's processes. Reads nothing but the modes of folders.

import { findClosedFolder, isRoot, type Owner } from "../../platform/base/owner.ts";

/** A user id that no system assigns, below 65536 so that containers know it. */
export const sessionOwner: Owner = { uid: 61_000, gid: 61_000 };

/**
 * Returns the user that commands run as when the service is root: the owner of the directory, if that user can reach it.
 * Returns undefined otherwise; commands then run as the service's own user.
 */
export function workerOf(realPath: string, owner: Owner): Owner | undefined {
  if (!isRoot() || owner.uid === 0) {
    return undefined;
  }
  const { uid, gid } = owner;
  return findClosedFolder(realPath, owner) === undefined ? { uid, gid } : undefined;
}
