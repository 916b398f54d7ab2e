// Goes through a directory and all below it, by descriptors and without following any link. Files come in the order of
// their names, byte by byte, a directory's between its neighbours', or in the order of their whole paths. For a thread of
// its own: all calls are synchronous.
// T1: what is opened lies in a directory that was opened from its parent; a name that became a link is skipped.
// T2: sensitive places, the service's own, and what shows the system's processes, are neither entered nor told of.
// T3: what the walk remembers and how long it takes is bounded by the limits below.

import { closeSync, type Dirent, lstatSync, opendirSync, openSync, type Stats, statfsSync } from "node:fs";
import { findHidden } from "../../../engine/sessions/work-place.ts";
import { descriptorPath, directoryFlags, pathIn, readFlags, showsProcesses } from "../descriptors.ts";
import { isSystemError } from "../path-failure.ts";
import { findSensitivePart } from "../sensitive.ts";

export interface Tree {
  readonly directoryFd: number;
  /** Absolute, without links. */
  readonly realPath: string;
  readonly hidden: readonly string[];
  /** Directories of these names are not entered. */
  readonly skippedNames: ReadonlySet<string>;
  /** How many directories lie at most between the tree and a file. */
  readonly depthMax: number;
  /** Then `a.ts` comes before what is in the directory `a`, as `.` comes before `/`. */
  readonly inPathOrder?: boolean;
}

/**
 * A regular file, by what its directory says. It may be another thing by now: open it with `openFileIn`, or ask
 * `statFileIn`.
 */
export interface TreeFile {
  readonly directoryFd: number;
  /** U+FFFD stands for what is not UTF-8. */
  readonly name: string;
  /** One character per byte. */
  readonly rawName: string;
  /** From the tree's directory. */
  readonly path: string;
}

/** Far more than a project has; a few seconds. */
const entriesMax = 1_000_000;
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
  return openOrSkip(pathIn(directoryFd, name), readFlags);
}

/** Undefined for what is not there any more, is not a regular file, or stands in a directory that may only be read. */
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

/** One character per byte: this way the order of texts is the order of bytes. */
const nameEncoding = "latin1";

function decodeName(rawName: string): string {
  return isPlain(rawName) ? rawName : Buffer.from(rawName, nameEncoding).toString();
}

/** For the system, whose names are bytes: one that is not UTF-8 cannot be reached by any text. */
function rawPathIn(directoryFd: number, rawName: string): string | Buffer {
  const path = pathIn(directoryFd, rawName);
  return isPlain(rawName) ? path : Buffer.from(path, nameEncoding);
}

function isPlain(rawName: string): boolean {
  return /^[\0-\x7f]*$/.test(rawName);
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
    // Without descriptors nothing would be found, which must not look like an answer.
    if (isSystemError(error) && error.code !== "EMFILE" && error.code !== "ENFILE") {
      return undefined;
    }
    throw error;
  }
}
