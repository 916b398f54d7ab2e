// Replaces the content of a file atomically: readers see the old content or the new one, even after a failure. The content goes
// to a new file in the same directory, which is then renamed.
//
// The rename is as safe as the walk. Both paths start with the open directory, so that no part of the path can be swapped. A
// rename replaces the entry of that name, such as a link, instead of following it.

import { randomBytes } from "node:crypto";
import type { Stats } from "node:fs";
import { type FileHandle, open, rename, unlink } from "node:fs/promises";
import { giveToOwnerOf } from "../../platform/base/owner.ts";
import { createFlags, pathIn } from "./descriptors.ts";
import type { FilePlace } from "./walk.ts";

/** Contract: the mode of a new file. An existing file keeps its own mode. */
const newFileMode = 0o644;

/** Returns whether a name belongs to an unfinished file that a killed process left behind. */
export function isLeftBehind(name: string): boolean {
  return unfinished.test(name);
}

const unfinished = /^\.runnel-[0-9a-f]{16}$/;

/** Replaces the content of a file, or creates it. */
export async function replaceFile(place: FilePlace, content: Uint8Array, signal: AbortSignal): Promise<void> {
  // Only a process that is killed before the rename leaves this file behind; `isLeftBehind` recognises its name.
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

/** Copies owner and mode. The setuid and setgid bits are lost, as with every other way to write a file. */
async function takeOver(file: FileHandle, before: Stats): Promise<void> {
  const { uid, gid } = await file.stat();
  if (uid !== before.uid || gid !== before.gid) {
    await file.chown(before.uid, before.gid);
  }
  await file.chmod(before.mode & 0o777);
}
