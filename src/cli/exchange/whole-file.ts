// Writes files completely or not at all: as `{path}.tmp` first, then renamed, as the protocol requires (Session Management,
// Atomic Writes). One process at a time writes in a folder: see lock.ts.

import { lstat, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { failpoint } from "../../platform/base/failpoint.ts";
import { CommandError } from "../command-error.ts";

/** Writes a file and syncs it to the disk. Throws a `CommandError`. */
export async function putFile(path: string, text: string): Promise<void> {
  const beside = `${path}.tmp`;
  try {
    // Never writes into the file of a dead process, or through a link that another user put there.
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

/** Writes a new file. Returns false when a file of that name exists, which stays as it is. */
export async function putNewFile(path: string, text: string): Promise<boolean> {
  if (await isThere(path)) {
    return false;
  }
  await putFile(path, text);
  return true;
}

/** Removes a file, if it exists, and syncs its folder. */
export async function removeFile(path: string): Promise<void> {
  try {
    await rm(path, { force: true });
    await syncFolder(dirname(path));
  } catch (cause) {
    throw unwritable(path, cause);
  }
}

/** Syncs a folder, because only that makes a changed name durable. Windows does it by itself and cannot open folders. */
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
