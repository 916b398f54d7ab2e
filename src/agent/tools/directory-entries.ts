// The entries of an open directory, by names that need not be UTF-8. A link counts as itself.

import type { Stats } from "node:fs";
import { lstat, opendir } from "node:fs/promises";
import { descriptorPath } from "./descriptors.ts";
import type { OpenedPath } from "./walk.ts";

/** A name as text with one character per byte. Text order is then byte order. */
export type EntryName = string;

const nameEncoding = "latin1";

/** The maximum number of entries. Sorting needs all names at once; this many take a few seconds to size. */
const entriesMax = 100_000;

/** Says why a directory cannot be listed, after its path and `has`. */
export const tooMany = `more than ${entriesMax} entries, too many to list`;

/** Returns all names, sorted; undefined when there are too many. */
export async function readNames({ handle }: OpenedPath, signal: AbortSignal): Promise<EntryName[] | undefined> {
  const names: EntryName[] = [];
  for await (const entry of await opendir(descriptorPath(handle.fd), { encoding: nameEncoding })) {
    signal.throwIfAborted();
    names.push(entry.name);
    if (names.length > entriesMax) {
      return undefined;
    }
  }
  return names.sort();
}

/** Returns the name for people. Bytes that are not UTF-8 are replaced. */
export function textOfName(name: EntryName): string {
  return Buffer.from(name, nameEncoding).toString();
}

/** Returns undefined when the entry was removed after its name was read. */
export async function statEntry({ handle }: OpenedPath, name: EntryName): Promise<Stats | undefined> {
  try {
    return await lstat(Buffer.concat([Buffer.from(`${descriptorPath(handle.fd)}/`), Buffer.from(name, nameEncoding)]));
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") {
      return undefined;
    }
    throw error;
  }
}
