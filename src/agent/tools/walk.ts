// Opens the paths that tools name, only inside the work directory, even while the tree changes.
//
// W1  The checked file is the used file. Each open takes one name, relative to an open directory, and follows no link.
// W2  The walk follows links itself, from the work directory, and only to places inside it. Directories are made the same way.
// W3  At most four descriptors are open during a walk. Afterwards only those of the result remain, which the caller closes.
// W4  A walk ends. Links, steps and the length of a path are bounded; opening a pipe or a device does not wait.

import { constants, type Stats } from "node:fs";
import { type FileHandle, mkdir, open, readlink, statfs } from "node:fs/promises";
import { isAbsolute, join, resolve, sep } from "node:path";
import { isWithin } from "../../engine/sessions/within.ts";
import { findHidden, findRefusal, type Workspace } from "../../engine/sessions/workspace.ts";
import { Fault } from "../../platform/base/fault.ts";
import { giveToOwnerOf, isRoot } from "../../platform/base/owner.ts";
import {
  descriptorDirectory,
  descriptorPath,
  directoryFlags,
  pathIn,
  readFlags,
  showsProcesses,
  updateFlags,
  writeFlags,
} from "./descriptors.ts";
import {
  describeErrno,
  isSystemError,
  type PathFailure,
  Refusal,
  SystemRefusal,
  showsProcessesOf,
  toFailure,
} from "./path-failure.ts";
import { findSensitivePart } from "./sensitive.ts";

/**
 * What a caller accepts. A `file` is regular and has one name, because a second hard link may be the name of a file outside.
 * (Trees that package managers fill with hard links are read through a shell.)
 */
export type PathKind = "file" | "directory" | "either";

/** A file or directory inside the work directory, open for reading. The receiver closes it with `await using`. */
export class OpenedPath implements AsyncDisposable {
  readonly handle: FileHandle;
  readonly stat: Stats;
  /** The path for messages: absolute, with `.` and `..` resolved, but not links. */
  readonly joinedPath: string;
  /** The actual path: absolute, without links. */
  readonly realPath: string;

  constructor(handle: FileHandle, stat: Stats, joinedPath: string, realPath: string) {
    this.handle = handle;
    this.stat = stat;
    this.joinedPath = joinedPath;
    this.realPath = realPath;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.handle.close();
  }
}

/** A name in an open directory inside the work directory: of a file, a link, or nothing yet. Close it with `await using`. */
export class FilePlace implements AsyncDisposable {
  readonly directory: FileHandle;
  readonly name: string;
  /** The open regular file that has the name now; undefined when no file was opened. */
  readonly file: { readonly handle: FileHandle; readonly stat: Stats } | undefined;
  readonly joinedPath: string;
  readonly realPath: string;

  constructor(directory: FileHandle, name: string, opened: OpenedPath | { joinedPath: string; realPath: string }) {
    this.directory = directory;
    this.name = name;
    this.file = opened instanceof OpenedPath ? opened : undefined;
    this.joinedPath = opened.joinedPath;
    this.realPath = opened.realPath;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.directory.close(), this.file?.handle.close()]);
  }
}

/**
 * Opens `path`, which is relative to `workDir` or absolute and inside it; `""` is the work directory itself. Throws only for
 * defects of the installation.
 * @throws Fault CONFIG_INVALID without `/proc/self/fd`, INTERNAL when `workDir` is not absolute.
 */
export async function openInside(
  workspace: Workspace,
  path: string,
  kind: PathKind,
): Promise<OpenedPath | PathFailure> {
  return await walkTo(placeOf(workspace, path), path, (walk, joinedPath) => walk.open(kind, joinedPath));
}

/** Returns the work directory, or the readable directory elsewhere that contains the path. A link cannot lead from one to another. */
function placeOf(workspace: Workspace, path: string): Workspace {
  const { client, workDir, readable = [], refusal } = workspace;
  const place = refusal === undefined ? readable.find((each) => isWithin(resolve(workDir, path), each)) : undefined;
  return place === undefined ? workspace : { client, workDir: place, realPath: place, hidden: [] };
}

/**
 * Finds the place of a file to write. For an `edit`, the file must exist and is open for reading as well. A `write` also
 * creates missing directories; they remain when a later step fails.
 */
export async function openPlace(
  workspace: Workspace,
  path: string,
  purpose: "write" | "edit",
): Promise<FilePlace | PathFailure> {
  return await walkTo(workspace, path, (walk, joinedPath) => walk.openPlace(purpose, joinedPath));
}

/** Finds the place of a name, whether it exists or not. Does not follow a link there, and opens nothing. */
export async function openName(workspace: Workspace, path: string): Promise<FilePlace | PathFailure> {
  return await walkTo(workspace, path, (walk, joinedPath) => walk.openName(joinedPath));
}

async function walkTo<Found>(
  workspace: Workspace,
  path: string,
  find: (walk: Walk, joinedPath: string) => Promise<Found>,
): Promise<Found | PathFailure> {
  const { workDir } = workspace;
  if (!isAbsolute(workDir)) {
    throw new Fault("INTERNAL", `work directory must be an absolute path, got "${workDir}"`);
  }
  const joinedPath = resolve(workDir, path);
  try {
    checkText(path);
    await using root = await openRoot(workspace);
    const names = namesBelow(root, joinedPath);
    if (names === undefined) {
      throw new Refusal({ kind: "outside" });
    }
    await using walk = await Walk.start(root, names);
    return await find(walk, joinedPath);
  } catch (error) {
    return toFailure(error, joinedPath);
  }
}

/** The kernel's maximum (PATH_MAX), so that every path that works in a shell is accepted. */
const pathBytesMax = 4096;

/** The maximum number of links, half of what the kernel allows. No legitimate path needs more. */
const linksMax = 20;

/** The maximum number of steps: the longest path (2048 names) after a few links. 4096 opens take less than half a second. */
const stepsMax = 4096;

function checkText(path: string): void {
  if (path.includes("\0")) {
    throw new Refusal({ kind: "text", words: "path contains a NUL byte" });
  }
  const bytes = Buffer.byteLength(path);
  if (bytes > pathBytesMax) {
    // The path is left out, because it may fill the model's context.
    throw new Refusal({ kind: "text", words: `path is too long (${bytes} bytes, max ${pathBytesMax})` });
  }
}

interface Root extends AsyncDisposable {
  readonly handle: FileHandle;
  /** The configured path. It may contain links: the choice of a work directory includes the targets of its links. */
  readonly path: string;
  readonly realPath: string;
  readonly hidden: readonly string[];
}

async function openRoot(workspace: Workspace): Promise<Root> {
  const { workDir, hidden } = workspace;
  const handle = await open(workDir, constants.O_RDONLY | constants.O_DIRECTORY).catch((error: unknown) => {
    throw isSystemError(error)
      ? refuseWorkspace(`work directory ${workDir} is not accessible: ${describeErrno(error.code)}`)
      : error;
  });
  try {
    const realPath = await readlink(descriptorPath(handle.fd));
    const refusal = findRefusal(workspace, realPath);
    if (refusal !== undefined) {
      throw refuseWorkspace(refusal);
    }
    if (await isOfProcesses(handle)) {
      throw refuseWorkspace(showsProcessesOf(workDir));
    }
    return { handle, path: resolve(workDir), realPath, hidden, [Symbol.asyncDispose]: () => handle.close() };
  } catch (cause) {
    await handle.close();
    if (cause instanceof Refusal) {
      throw cause;
    }
    throw new Fault(
      "CONFIG_INVALID",
      `file tools need ${descriptorDirectory}, which this system does not offer: run the service on Linux with /proc mounted`,
      { cause },
    );
  }
}

function refuseWorkspace(words: string): Refusal {
  return new Refusal({ kind: "workspace", words });
}

/** Returns the names from the root to an absolute path, which may contain the root's path with or without links. */
function namesBelow(root: Root, absolutePath: string): string[] | undefined {
  for (const rootNames of [splitPath(root.path), splitPath(root.realPath)]) {
    const names = splitPath(absolutePath);
    // Compared name by name: as text, `/area/s1` is also a prefix of `/area/s10`.
    if (rootNames.every((name, index) => names[index] === name)) {
      return names.slice(rootNames.length);
    }
  }
  return undefined;
}

function splitPath(path: string): string[] {
  return path.split(sep).filter((name) => name !== "" && name !== ".");
}

/** A walk from the root. Its position is `#directory`; `#done` are the names to it, and none of them is a link. */
class Walk implements AsyncDisposable {
  readonly #root: Root;
  #directory: FileHandle;
  #done: string[] = [];
  #rest: string[];
  #linksLeft = linksMax;
  #makesDirectories = false;

  static async start(root: Root, names: string[]): Promise<Walk> {
    return new Walk(root, await openAt(root.handle, ".", directoryFlags), names);
  }

  private constructor(root: Root, directory: FileHandle, names: string[]) {
    this.#root = root;
    this.#directory = directory;
    this.#rest = names;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#directory.close();
  }

  async open(kind: PathKind, joinedPath: string): Promise<OpenedPath> {
    return await this.#reach(async (name, realPath) => {
      const handle = await this.#openOrFollow(name, kind === "directory" ? directoryFlags : readFlags);
      return handle && (await checkOpened(handle, kind, joinedPath, realPath));
    });
  }

  async openPlace(purpose: "write" | "edit", joinedPath: string): Promise<FilePlace> {
    this.#makesDirectories = purpose === "write";
    return await this.#reach(async (name, realPath) => {
      if (name === ".") {
        throw new SystemRefusal("EISDIR");
      }
      const handle = await this.#openToWrite(name, purpose);
      if (handle === "followed") {
        return undefined;
      }
      const opened = handle && (await checkOpened(handle, "file", joinedPath, realPath));
      try {
        const directory = await openAt(this.#directory, ".", directoryFlags);
        return new FilePlace(directory, name, opened ?? { joinedPath, realPath });
      } catch (error) {
        await opened?.handle.close();
        throw error;
      }
    });
  }

  async openName(joinedPath: string): Promise<FilePlace> {
    return await this.#reach(async (name, realPath) => {
      if (name === ".") {
        throw new SystemRefusal("EISDIR");
      }
      const directory = await openAt(this.#directory, ".", directoryFlags);
      return new FilePlace(directory, name, { joinedPath, realPath });
    });
  }

  /** Walks to the last name and calls `take`. When `take` returns undefined, the name was a link and the walk continues. */
  async #reach<Found>(take: (name: string, realPath: string) => Promise<Found | undefined>): Promise<Found> {
    for (let steps = 0; steps < stepsMax; steps += 1) {
      const name = this.#rest.shift() ?? ".";
      if (name === "..") {
        await this.#leaveDirectory();
        continue;
      }
      const realPath = join(this.#root.realPath, ...this.#done, name);
      checkShown(realPath, this.#root.hidden);
      if (this.#rest.length === 0) {
        const found = await take(name, realPath);
        if (found !== undefined) {
          return found;
        }
      } else {
        await this.#enterNext(name);
      }
    }
    throw new SystemRefusal("ELOOP");
  }

  async #enterNext(name: string): Promise<void> {
    if (this.#makesDirectories) {
      await makeDirectoryAt(this.#directory, name);
    }
    const directory = await this.#openOrFollow(name, directoryFlags);
    if (directory !== undefined) {
      await this.#enter(directory);
      this.#done.push(name);
    }
  }

  /** Returns undefined when the file does not exist and may be created. */
  async #openToWrite(name: string, purpose: "write" | "edit"): Promise<FileHandle | "followed" | undefined> {
    try {
      return (await this.#openOrFollow(name, purpose === "edit" ? updateFlags : writeFlags)) ?? "followed";
    } catch (error) {
      if (purpose === "write" && isSystemError(error) && error.code === "ENOENT") {
        return undefined;
      }
      throw error;
    }
  }

  /** Opens a name. For a link it puts the target in front of the remaining names and returns undefined. */
  async #openOrFollow(name: string, flags: number): Promise<FileHandle | undefined> {
    try {
      return await openAt(this.#directory, name, flags);
    } catch (error) {
      const target = mayBeLink(error) ? await readLinkAt(this.#directory, name) : undefined;
      if (target === undefined) {
        throw this.#rest.length > 0 && !this.#makesDirectories ? nothingBelow(error) : error;
      }
      await this.#follow(target);
      return undefined;
    }
  }

  async #follow(target: string): Promise<void> {
    this.#linksLeft -= 1;
    if (this.#linksLeft < 0) {
      throw new SystemRefusal("ELOOP");
    }
    if (!isAbsolute(target)) {
      this.#rest = [...splitPath(target), ...this.#rest];
      return;
    }
    const names = namesBelow(this.#root, target);
    if (names === undefined) {
      throw new Refusal({ kind: "outside" });
    }
    await this.#restart([...names, ...this.#rest]);
  }

  // Not by opening `..`: the directory may have been moved, so its parent may be any directory.
  async #leaveDirectory(): Promise<void> {
    if (this.#done.length === 0) {
      throw new Refusal({ kind: "outside" });
    }
    await this.#restart([...this.#done.slice(0, -1), ...this.#rest]);
  }

  async #restart(names: string[]): Promise<void> {
    await this.#enter(await openAt(this.#root.handle, ".", directoryFlags));
    this.#done = [];
    this.#rest = names;
  }

  async #enter(directory: FileHandle): Promise<void> {
    const left = this.#directory;
    this.#directory = directory;
    await left.close();
  }
}

async function openAt(directory: FileHandle, name: string, flags: number): Promise<FileHandle> {
  return await open(pathIn(directory.fd, name), flags);
}

/** Creates a directory. An existing entry of that name, such as a link, stays; the later open decides about it. */
async function makeDirectoryAt(directory: FileHandle, name: string): Promise<void> {
  try {
    await mkdir(pathIn(directory.fd, name), 0o755);
    if (isRoot()) {
      await using made = await openAt(directory, name, directoryFlags);
      await giveToOwnerOf(directory, made);
    }
  } catch (error) {
    if (!isSystemError(error) || error.code !== "EEXIST") {
      throw error;
    }
  }
}

/** Returns the target of a link, or undefined when there is no link (any more). */
async function readLinkAt(directory: FileHandle, name: string): Promise<string | undefined> {
  try {
    return await readlink(pathIn(directory.fd, name));
  } catch (error) {
    if (isSystemError(error) && error.code === "EINVAL") {
      return undefined;
    }
    throw error;
  }
}

function checkShown(realPath: string, hidden: readonly string[]): void {
  const part = findSensitivePart(realPath);
  if (part !== undefined) {
    throw new Refusal({ kind: "sensitive", part });
  }
  const place = findHidden(realPath, hidden);
  if (place !== undefined) {
    throw new Refusal({ kind: "hidden", place });
  }
}

async function checkOpened(
  handle: FileHandle,
  kind: PathKind,
  joinedPath: string,
  realPath: string,
): Promise<OpenedPath> {
  try {
    const stat = await handle.stat();
    if (kind === "file" || (kind === "either" && !stat.isDirectory())) {
      checkFile(stat);
    }
    if (await isOfProcesses(handle)) {
      throw new Refusal({ kind: "processes" });
    }
    return new OpenedPath(handle, stat, joinedPath, realPath);
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function isOfProcesses(handle: FileHandle): Promise<boolean> {
  return showsProcesses(await statfs(descriptorPath(handle.fd)));
}

/** Throws for everything that `PathKind` does not call a `file`. */
export function checkFile(stat: Stats): void {
  if (stat.isDirectory()) {
    throw new SystemRefusal("EISDIR");
  }
  if (!stat.isFile()) {
    throw new Refusal({ kind: "not_regular" });
  }
  if (stat.nlink > 1) {
    throw new Refusal({ kind: "hard_links", links: stat.nlink });
  }
}

// Nothing exists below a file, so the model reads the same error as for other missing paths.
function nothingBelow(error: unknown): unknown {
  return isSystemError(error) && error.code === "ENOTDIR" ? new SystemRefusal("ENOENT") : error;
}

// A link gives ELOOP where any kind may be opened, and ENOTDIR where a directory must be.
function mayBeLink(error: unknown): boolean {
  return isSystemError(error) && (error.code === "ELOOP" || error.code === "ENOTDIR");
}
