// Gives a file new content in one step: readers see the old content or the new one, whatever fails in between. The content
// goes to a new file beside the old one, which then takes over the name.
//
// The rename is as safe as the walk. Both paths start with the open directory, so that nothing on the way can be swapped;
// and a rename replaces what has the name, a link for instance, instead of following it.

import { randomBytes } from "node:crypto";
import type { Stats } from "node:fs";
import { type FileHandle, open, rename, unlink } from "node:fs/promises";
import { giveToOwnerOf } from "../../platform/base/owner.ts";
import { createFlags, pathIn } from "./descriptors.ts";
import type { FilePlace } from "./walk.ts";

/** Contract. A file that was there keeps its own mode. */
const newFileMode = 0o644;

/** What a process that was killed may have left behind: no file of anybody's. */
export function isLeftBehind(name: string): boolean {
  return unfinished.test(name);
}

const unfinished = /^\.runnel-[0-9a-f]{16}$/;

export async function replaceFile(place: FilePlace, content: Uint8Array, signal: AbortSignal): Promise<void> {
  // Only a process that is killed in between leaves this one behind, by a name that `isLeftBehind` knows.
  const path = pathIn(place.directory.fd, `.runnel-${randomBytes(8).toString("hex")}`);
  await using file = await open(path, createFlags, newFileMode);
  try {
    await file.writeFile(content, { signal });
    await (place.file === undefined ? giveToOwnerOf(place.directory, file) : takeOver(file, place.file.stat));
    signal.throwIfAborted();
    await rename(path, pathIn(place.directory.fd, place.name));
  } catch (error) {
    await unlink(path).catch(() => {});
    throw error;
  }
}

/** Bits that run a program as somebody else are lost, as with every other way to write to a file. */
async function takeOver(file: FileHandle, before: Stats): Promise<void> {
  const { uid, gid } = await file.stat();
  if (uid !== before.uid || gid !== before.gid) {
    await file.chown(before.uid, before.gid);
  }
  await file.chmod(before.mode & 0o777);
}
