// Files that are complete and on the disk, or as they were before: written as `{path}.tmp`, then renamed, as the protocol has it
// (Session Management, Atomic Writes). One process at a time writes in a folder: see lock.ts.

import { lstat, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { failpoint } from "../../platform/base/failpoint.ts";
import { CommandError } from "../command-error.ts";

export async function putFile(path: string, text: string): Promise<void> {
  const beside = `${path}.tmp`;
  try {
    // What a process left there that died, or a link that somebody put there, is not written to.
    await rm(beside, { force: true });
    {
      await using file = await open(beside, "wx");
      await file.writeFile(text);
      await file.sync();
    }
    failpoint("beside.written");
    await rename(beside, path);
    await syncFolder(dirname(path));
  } catch (cause) {
    throw unwritable(path, cause);
  }
}

/** False when there is one by that name already, which stays as it is. */
export async function putNewFile(path: string, text: string): Promise<boolean> {
  if (await isThere(path)) {
    return false;
  }
  await putFile(path, text);
  return true;
}

export async function removeFile(path: string): Promise<void> {
  try {
    await rm(path, { force: true });
    await syncFolder(dirname(path));
  } catch (cause) {
    throw unwritable(path, cause);
  }
}

/** A name counts as changed only once its folder is on the disk. Windows does that by itself, and opens no folders. */
export async function syncFolder(path: string): Promise<void> {
  if (process.platform !== "win32") {
    await using folder = await open(path);
    await folder.sync();
  }
}

async function isThere(path: string): Promise<boolean> {
  return await lstat(path).then(
    () => true,
    () => false,
  );
}

function unwritable(path: string, cause: unknown): CommandError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new CommandError(`cannot write ${path}: ${why}`, { reason: "FILE_UNWRITABLE", cause });
}
