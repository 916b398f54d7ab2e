// Visits a directory and everything below it, by descriptors and without following links. Files come in byte order: of names,
// with a directory's files at the place of its name, or of whole paths. Runs in a thread, because all calls are synchronous.
//
// T1  Every open is relative to a directory that was opened from its parent. A name that became a link is skipped.
// T2  Sensitive paths, the service's own paths and procfs are neither entered nor reported.
// T3  The memory and time of the walk are bounded by the limits below.

import { closeSync, type Dirent, lstatSync, opendirSync, openSync, type Stats, statfsSync } from "node:fs";
import { findHidden } from "../../../engine/sessions/workspace.ts";
import { descriptorPath, directoryFlags, pathIn, readFlags, showsProcesses } from "../descriptors.ts";
import { isSystemError } from "../path-failure.ts";
import { findSensitivePart } from "../sensitive.ts";

/** A tree to visit. */
export interface Tree {
  readonly directoryFd: number;
  /** The absolute path without links. */
  readonly realPath: string;
  readonly hidden: readonly string[];
  /** Names of directories that are not entered. */
  readonly skippedNames: ReadonlySet<string>;
  /** The maximum number of directories between the tree and a file. */
  readonly depthMax: number;
  /** Orders by whole paths: `a.ts` then comes before the files in the directory `a`, as `.` comes before `/`. */
  readonly inPathOrder?: boolean;
}

/** A file according to its directory. It may have changed since: use `openFileIn` or `statFileIn` to check it. */
export interface TreeFile {
  readonly directoryFd: number;
  /** The name. U+FFFD replaces bytes that are not UTF-8. */
  readonly name: string;
  /** The name with one character per byte. */
  readonly rawName: string;
  /** The path from the tree's directory. */
  readonly path: string;
}

/** The maximum number of entries: far more than a project has, and a few seconds. */
const entriesMax = 1_000_000;
/** The maximum depth. Each level holds a descriptor. */
const levelsMax = 100;

/** Calls `visit` with each file until it returns false. Returns what was left out when the tree exceeds the limits. */
export function visitFiles(tree: Tree, visit: (file: TreeFile) => boolean): string | undefined {
  const walk: Walk = { tree, visit, entriesLeft: entriesMax, ended: false, leftOut: undefined };
  visitDirectory(walk, tree.directoryFd, "", 0);
  return walk.leftOut;
}

/** Opens a file for reading; the caller closes it. Returns undefined when it is missing, became a link, or is unreadable. */
export function openFileIn(directoryFd: number, name: string): number | undefined {
  return openOrSkip(pathIn(directoryFd, name), readFlags);
}

/** Returns the stat of a file, or undefined when it is missing, not a regular file, or its directory is not searchable. */
export function statFileIn({ directoryFd, rawName }: TreeFile): Stats | undefined {
  try {
    const stat = lstatSync(rawPathIn(directoryFd, rawName));
    return stat.isFile() ? stat : undefined;
  } catch (error) {
    if (isSystemError(error)) {
      return undefined;
    }
    throw error;
  }
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
    const rawName = entry.name;
    const name = decodeName(rawName);
    const path = prefix + name;
    if (!mayShow(walk.tree, path)) {
      continue;
    }
    if (entry.isFile()) {
      walk.ended = !walk.visit({ directoryFd, name, rawName, path });
    } else if (entry.isDirectory() && !walk.tree.skippedNames.has(name) && level < walk.tree.depthMax) {
      visitBelow(walk, rawPathIn(directoryFd, rawName), path, level + 1);
    }
  }
}

function mayShow({ realPath, hidden }: Tree, path: string): boolean {
  const absolute = `${realPath}/${path}`;
  return findSensitivePart(absolute) === undefined && findHidden(absolute, hidden) === undefined;
}

function visitBelow(walk: Walk, openPath: string | Buffer, path: string, level: number): void {
  if (level > levelsMax) {
    walk.leftOut ??= `directories more than ${levelsMax} levels deep were left out`;
    return;
  }
  const fd = openOrSkip(openPath, directoryFlags);
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

/** One character per byte, so that text order is byte order. */
const nameEncoding = "latin1";

function decodeName(rawName: string): string {
  return isPlain(rawName) ? rawName : Buffer.from(rawName, nameEncoding).toString();
}

/** Returns the path for a system call. A name that is not UTF-8 needs a path of bytes. */
function rawPathIn(directoryFd: number, rawName: string): string | Buffer {
  const path = pathIn(directoryFd, rawName);
  return isPlain(rawName) ? path : Buffer.from(path, nameEncoding);
}

function isPlain(rawName: string): boolean {
  return /^[\0-\x7f]*$/.test(rawName);
}

/** Returns the sorted files and directories. Links, pipes and other kinds are left out. */
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
  const keyOf = walk.tree.inPathOrder ? nameInPath : nameAlone;
  return entries.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

function nameAlone({ name }: Dirent): string {
  return name;
}

function nameInPath(entry: Dirent): string {
  return entry.isDirectory() ? `${entry.name}/` : entry.name;
}

function openOrSkip(path: string | Buffer, flags: number): number | undefined {
  try {
    return openSync(path, flags);
  } catch (error) {
    // Without free descriptors the search would find nothing, which must not look like an answer.
    if (isSystemError(error) && error.code !== "EMFILE" && error.code !== "ENFILE") {
      return undefined;
    }
    throw error;
  }
}
