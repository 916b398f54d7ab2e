// Goes through a directory and all below it, by descriptors and without following any link. Files come in the order of
// their names, byte by byte, a directory's between its neighbours'. For a thread of its own: all calls are synchronous.
// T1: what is opened lies in a directory that was opened from its parent; a name that became a link is skipped.
// T2: sensitive places, the service's own, and what shows the system's processes, are neither entered nor told of.
// T3: what the walk remembers and how long it takes is bounded by the limits below.

import { closeSync, type Dirent, opendirSync, openSync, statfsSync } from "node:fs";
import { descriptorPath, directoryFlags, pathIn, readFlags, showsProcesses } from "../descriptors.ts";
import { isSystemError } from "../path-failure.ts";
import { findSensitivePart } from "../sensitive.ts";
import { findHidden } from "../work-place.ts";

export interface Tree {
  readonly directoryFd: number;
  /** Absolute, without links. */
  readonly realPath: string;
  readonly hidden: readonly string[];
  /** Directories of these names are not entered. */
  readonly skippedNames: ReadonlySet<string>;
  /** How many directories lie at most between the tree and a file. */
  readonly depthMax: number;
}

/** A regular file, by what its directory says. It may be another thing by now: open it with `openFileIn`. */
export interface TreeFile {
  readonly directoryFd: number;
  readonly name: string;
  /** From the tree's directory. */
  readonly path: string;
}

/** Far more than a project has; a few seconds. */
export const entriesMax = 1_000_000;
/** Each level holds a descriptor. */
const levelsMax = 100;

/** Calls `visit` with each file until it returns false. Tells what was left out, if the tree is larger than we go. */
export function visitFiles(tree: Tree, visit: (file: TreeFile) => boolean): string | undefined {
  const walk: Walk = { tree, visit, entriesLeft: entriesMax, ended: false, leftOut: undefined };
  visitDirectory(walk, tree.directoryFd, "", 0);
  return walk.leftOut;
}

/** Undefined for what is not there any more, became a link, or may not be read. The caller closes it. */
export function openFileIn(directoryFd: number, name: string): number | undefined {
  return openOrSkip(directoryFd, name, readFlags);
}

interface Walk {
  readonly tree: Tree;
  readonly visit: (file: TreeFile) => boolean;
  entriesLeft: number;
  ended: boolean;
  leftOut: string | undefined;
}

function visitDirectory(walk: Walk, directoryFd: number, prefix: string, level: number): void {
  for (const entry of readEntries(walk, directoryFd)) {
    if (walk.ended) {
      return;
    }
    const name = decodeName(entry.name);
    const path = prefix + name;
    if (!mayShow(walk.tree, path)) {
      continue;
    }
    if (entry.isFile()) {
      walk.ended = !walk.visit({ directoryFd, name, path });
    } else if (entry.isDirectory() && !walk.tree.skippedNames.has(name) && level < walk.tree.depthMax) {
      visitBelow(walk, directoryFd, name, path, level + 1);
    }
  }
}

function mayShow({ realPath, hidden }: Tree, path: string): boolean {
  const absolute = `${realPath}/${path}`;
  return findSensitivePart(absolute) === undefined && findHidden(absolute, hidden) === undefined;
}

function visitBelow(walk: Walk, parentFd: number, name: string, path: string, level: number): void {
  if (level > levelsMax) {
    walk.leftOut ??= `directories more than ${levelsMax} levels deep were left out`;
    return;
  }
  const fd = openOrSkip(parentFd, name, directoryFlags);
  if (fd === undefined) {
    return;
  }
  try {
    if (!showsProcesses(statfsSync(descriptorPath(fd)))) {
      visitDirectory(walk, fd, `${path}/`, level);
    }
  } finally {
    closeSync(fd);
  }
}

/** One character per byte: this way the order of texts is the order of bytes. */
const nameEncoding = "latin1";

function decodeName(name: string): string {
  return /^[\0-\x7f]*$/.test(name) ? name : Buffer.from(name, nameEncoding).toString();
}

/** Sorted. Links, pipes and the like are left out at once. */
function readEntries(walk: Walk, directoryFd: number): Dirent[] {
  const entries: Dirent[] = [];
  using directory = opendirSync(descriptorPath(directoryFd), { encoding: nameEncoding, bufferSize: 256 });
  for (let entry = directory.readSync(); entry !== null; entry = directory.readSync()) {
    walk.entriesLeft -= 1;
    if (walk.entriesLeft < 0) {
      walk.leftOut ??= `stopped after ${entriesMax} entries`;
      walk.ended = true;
      return [];
    }
    if (entry.isFile() || entry.isDirectory()) {
      entries.push(entry);
    }
  }
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
}

function openOrSkip(directoryFd: number, name: string, flags: number): number | undefined {
  try {
    return openSync(pathIn(directoryFd, name), flags);
  } catch (error) {
    // Without descriptors nothing would be found, which must not look like an answer.
    if (isSystemError(error) && error.code !== "EMFILE" && error.code !== "ENFILE") {
      return undefined;
    }
    throw error;
  }
}
