// Whose the own directories of sessions are where the service is root, and as whom commands run there. Not as root: its
// processes are counted by no limit of the kernel. Pure but for modes of folders.

import { findClosedFolder, isRoot, type Owner } from "../../platform/base/owner.ts";

/** A user that no system gives to anybody, below 65536 so that containers know it. */
export const sessionOwner: Owner = { uid: 61_000, gid: 61_000 };

/** Root is whoever owns the directory, if that user can walk to it; everybody else is themselves. */
export function workerOf(realPath: string, owner: Owner): Owner | undefined {
  if (!isRoot() || owner.uid === 0) {
    return undefined;
  }
  const { uid, gid } = owner;
  return findClosedFolder(realPath, owner) === undefined ? { uid, gid } : undefined;
}
