// Removes a directory with all that is in it, whatever commands made of it: without permissions, or deeper than a path may
// be long.
// T1: nothing outside is touched: each step takes one name in an open directory, and follows no link.
// T2: nothing nests: directories are moved up into the root before they are looked into.

import { constants } from "node:fs";
import { chmod, type FileHandle, open, readdir, rename, rm, rmdir, unlink } from "node:fs/promises";

/** Nothing happens when there is none. Throws when something cannot be removed. */
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

/** Opens a place without permission to read it. Node has no name for it. */
const pathOnly = 0o10_000_000;

/** Its owner gets the permissions back that removing needs. */
async function openDirectory(path: Buffer): Promise<FileHandle> {
  const handle = await open(path, pathOnly | constants.O_NOFOLLOW | constants.O_DIRECTORY);
  // It may belong to somebody else and still be readable; if not, the next step says so.
  await chmod(inside(handle), 0o700).catch(() => {});
  return handle;
}

/** A name in an open directory, or the directory itself. Names need not be UTF-8. */
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

/** Each round takes away what the root holds, and finds in it what was below. */
async function emptyRoot(root: FileHandle): Promise<void> {
  let moved = 0;
  const moveUp = async (path: Buffer): Promise<void> => {
    // To move a directory takes permission to write to it.
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
