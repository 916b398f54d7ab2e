// Removes a directory with its contents, also when commands left it without permissions or deeper than the maximum path length.
//
// T1  Nothing outside is touched: each step takes one name in an open directory, and follows no link.
// T2  Nothing nests: directories are moved up into the root before they are read.

import { constants } from "node:fs";
import { chmod, type FileHandle, open, readdir, rename, rm, rmdir, unlink } from "node:fs/promises";

/** Removes a directory; does nothing when it does not exist. Throws when something cannot be removed. */
export async function removeTree(path: string): Promise<void> {
  if (process.platform !== "linux") {
    await rm(path, { recursive: true, force: true });
    return;
  }
  try {
    await using root = await openDirectory(Buffer.from(path));
    await emptyRoot(root);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") {
      return;
    }
    throw error;
  }
  await rmdir(path);
}

/** O_PATH of Linux: opens a directory without permission to read it. Node has no constant for it. */
const pathOnly = 0o10_000_000;

/** Opens a directory and restores the owner's permissions, which removing needs. */
async function openDirectory(path: Buffer): Promise<FileHandle> {
  const handle = await open(path, pathOnly | constants.O_NOFOLLOW | constants.O_DIRECTORY);
  // Another user may own it, and it may still be readable. If not, the next step fails.
  await chmod(inside(handle), 0o700).catch(() => {});
  return handle;
}

/** Returns the path of a name in an open directory, or of the directory itself. Names need not be UTF-8. */
function inside(directory: FileHandle, name?: Buffer): Buffer {
  const path = Buffer.from(`/proc/self/fd/${directory.fd}`);
  return name === undefined ? path : Buffer.concat([path, Buffer.from("/"), name]);
}

interface Entry {
  readonly name: Buffer;
  readonly isDirectory: boolean;
}

async function list(directory: FileHandle): Promise<Entry[]> {
  const entries = await readdir(inside(directory), { withFileTypes: true, encoding: "buffer" });
  return entries.map((entry) => ({ name: entry.name, isDirectory: entry.isDirectory() }));
}

/** Empties the root. Each round removes the entries of the root, and moves their subdirectories into it. */
async function emptyRoot(root: FileHandle): Promise<void> {
  let moved = 0;
  const moveUp = async (path: Buffer): Promise<void> => {
    // Moving a directory needs permission to write to it.
    await (await openDirectory(path)).close();
    moved += 1;
    await rename(path, inside(root, Buffer.from(`.removed-${moved}`)));
  };
  for (let entries = await list(root); entries.length > 0; entries = await list(root)) {
    for (const { name, isDirectory } of entries) {
      const path = inside(root, name);
      await (isDirectory ? removeDirectory(path, moveUp) : unlink(path));
    }
  }
}

async function removeDirectory(path: Buffer, moveUp: (path: Buffer) => Promise<void>): Promise<void> {
  {
    await using directory = await openDirectory(path);
    for (const { name, isDirectory } of await list(directory)) {
      const inner = inside(directory, name);
      await (isDirectory ? moveUp(inner) : unlink(inner));
    }
  }
  await rmdir(path);
}
