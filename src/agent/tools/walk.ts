// Opens what a tool names, inside the work directory and nowhere else, however the tree changes meanwhile.
// W1: what is checked is what is used. Each open takes one name, relative to an open directory, and follows no link.
// W2: links are followed by hand, from the work directory, and only to places inside it. Directories are made the same way.
// W3: four descriptors at most are open during a walk; afterwards those of the result, which the caller closes, or none.
// W4: a walk ends. Links, steps and the length of a path are bounded; opening a pipe or a device does not wait.

import { constants, type Stats } from "node:fs";
import { type FileHandle, mkdir, open, readlink, statfs } from "node:fs/promises";
import { isAbsolute, join, resolve, sep } from "node:path";
import { findHidden, findRefusal, type WorkPlace } from "../../engine/sessions/work-place.ts";
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
 * What a caller is ready to open. A `file` is regular and has one name: a second hard link may be the name of a file
 * outside, and nothing in the file tells. (Trees that package managers fill with hard links are read through a shell.)
 */
export type PathKind = "file" | "directory" | "either";

/** Something inside the work directory, open for reading. Who receives it closes it: `await using`. */
export class OpenedPath implements AsyncDisposable {
  readonly handle: FileHandle;
  readonly stat: Stats;
  /** As messages name it: absolute, `.` and `..` resolved, links not. */
  readonly joinedPath: string;
  /** Where it was found: absolute, without links. */
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

/** Where a file is or may come to be, or a link is: a name in an open directory inside the work directory. `await using`. */
export class FilePlace implements AsyncDisposable {
  readonly directory: FileHandle;
  readonly name: string;
  /** The regular file that has the name now, where it was opened. */
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
 * Opens `path`, which is relative to `workDir` or absolute and inside it; `""` is the work directory itself.
 * Throws only for defects of the installation: no `/proc/self/fd`, a `workDir` that is not absolute.
 */
export async function openInside(place: WorkPlace, path: string, kind: PathKind): Promise<OpenedPath | PathFailure> {
  return await walkTo(place, path, (walk, joinedPath) => walk.open(kind, joinedPath));
}

/**
 * Finds the place of a file to be written. For an `edit` the file is there, and open for reading too. A `write` also
 * makes the directories that are missing on the way; they stay when the rest fails.
 */
export async function openPlace(
  place: WorkPlace,
  path: string,
  purpose: "write" | "edit",
): Promise<FilePlace | PathFailure> {
  return await walkTo(place, path, (walk, joinedPath) => walk.openPlace(purpose, joinedPath));
}

/** Finds the place of a name, whatever has it: a link there is not followed, and nothing is opened. */
export async function openName(place: WorkPlace, path: string): Promise<FilePlace | PathFailure> {
  return await walkTo(place, path, (walk, joinedPath) => walk.openName(joinedPath));
}

async function walkTo<Found>(
  workPlace: WorkPlace,
  path: string,
  find: (walk: Walk, joinedPath: string) => Promise<Found>,
): Promise<Found | PathFailure> {
  const { workDir } = workPlace;
  if (!isAbsolute(workDir)) {
    throw new Fault("INTERNAL", `work directory must be an absolute path, got "${workDir}"`);
  }
  const joinedPath = resolve(workDir, path);
  try {
    checkText(path);
    await using root = await openRoot(workPlace);
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

/** As long as the kernel takes (PATH_MAX), so that no call that works in a shell is refused. */
const pathBytesMax = 4096;

/** Half of what the kernel allows; nobody needs more by intention. */
const linksMax = 20;

/** Room for the longest path (2048 names) after a few links; 4096 opens take less than half a second. */
const stepsMax = 4096;

function checkText(path: string): void {
  if (path.includes("\0")) {
    throw new Refusal({ kind: "text", words: "path contains a NUL byte" });
  }
  const bytes = Buffer.byteLength(path);
  if (bytes > pathBytesMax) {
    // The path is left out: it may fill the model's context.
    throw new Refusal({ kind: "text", words: `path is too long (${bytes} bytes, max ${pathBytesMax})` });
  }
}

interface Root extends AsyncDisposable {
  readonly handle: FileHandle;
  /** As configured. May contain links: whoever chose the work directory chose where they lead. */
  readonly path: string;
  readonly realPath: string;
  readonly hidden: readonly string[];
}

async function openRoot(place: WorkPlace): Promise<Root> {
  const { workDir, hidden } = place;
  const handle = await open(workDir, constants.O_RDONLY | constants.O_DIRECTORY).catch((error: unknown) => {
    throw isSystemError(error)
      ? refuseWorkspace(`work directory ${workDir} is not accessible: ${describeErrno(error.code)}`)
      : error;
  });
  try {
    const realPath = await readlink(descriptorPath(handle.fd));
    const refusal = findRefusal(place, realPath);
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

/** The names that lead from the root to an absolute path, which may spell the root with links or without. */
function namesBelow(root: Root, absolutePath: string): string[] | undefined {
  for (const rootNames of [splitPath(root.path), splitPath(root.realPath)]) {
    const names = splitPath(absolutePath);
    // Name by name: as text, `/area/s1` is also the start of `/area/s10`.
    if (rootNames.every((name, index) => names[index] === name)) {
      return names.slice(rootNames.length);
    }
  }
  return undefined;
}

function splitPath(path: string): string[] {
  return path.split(sep).filter((name) => name !== "" && name !== ".");
}

/** One way from the root to something below it. Stands in `#directory`, which `#done` names and which is no link. */
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

  /** Goes to the last name, which `take` makes something of; undefined when that was a link and the way goes on. */
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

  /** Undefined where a new file may be made. */
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

  /** Undefined after a link, which the rest of the way now starts with. */
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

  // Not by opening `..`: the directory may have been moved, and its parent may be anything by now.
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

/** What has the name already stays what it is, a link for instance; opening it will tell. */
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

/** The target of a link, or undefined where there is no link (any more). */
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

/** Throws for what is no `file` in the sense of `PathKind`. */
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

// Below a file there is nothing: the model reads the same as for any other path that does not exist.
function nothingBelow(error: unknown): unknown {
  return isSystemError(error) && error.code === "ENOTDIR" ? new SystemRefusal("ENOENT") : error;
}

// ELOOP for a link where anything may stand, ENOTDIR for one where a directory has to.
function mayBeLink(error: unknown): boolean {
  return isSystemError(error) && (error.code === "ELOOP" || error.code === "ENOTDIR");
}
