// Opens what a tool names, inside the work directory and nowhere else, however the tree changes meanwhile.
// W1: what is checked is what is used. Each open takes one name, relative to an open directory, and follows no link.
// W2: links are followed by hand, from the work directory, and only to places inside it.
// W3: three descriptors at most are open during a walk; afterwards one, which the caller closes, or none after a failure.
// W4: a walk ends. Links, steps and the length of a path are bounded; opening a pipe or a device does not wait.

import { constants, type Stats } from "node:fs";
import { type FileHandle, open, readlink } from "node:fs/promises";
import { isAbsolute, join, resolve, sep } from "node:path";
import { Fault } from "../base/fault.ts";
import { findSensitivePart } from "./sensitive.ts";

/**
 * What a caller is ready to open. A `file` is regular and has one name: a second hard link may be the name of a file
 * outside, and nothing in the file tells. (Trees that package managers fill with hard links are read through a shell.)
 */
export type PathKind = "file" | "directory";

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

/** Why a path was not opened: our rules refuse it (a full sentence), or the system does (an error code such as ENOENT). */
export type PathFailure = { readonly refusal: string } | { readonly errno: string; readonly joinedPath: string };

/**
 * Opens `path`, which is relative to `workDir` or absolute and inside it; `""` is the work directory itself.
 * Throws only for defects of the installation: no `/proc/self/fd`, a `workDir` that is not absolute.
 */
export async function openInside(workDir: string, path: string, kind: PathKind): Promise<OpenedPath | PathFailure> {
  if (!isAbsolute(workDir)) {
    throw new Fault("INTERNAL", `work directory must be an absolute path, got "${workDir}"`);
  }
  const joinedPath = resolve(workDir, path);
  try {
    checkText(path);
    await using root = await openRoot(workDir);
    const names = namesBelow(root, joinedPath);
    if (names === undefined) {
      throw new Outside();
    }
    await using walk = await Walk.start(root, names);
    return await walk.open(kind, joinedPath);
  } catch (error) {
    return toFailure(error, joinedPath);
  }
}

/** Words a failure for the model: `stat /home/me/a.txt: no such file or directory`. */
export function describeFailure(failure: PathFailure, operation: string): string {
  if ("refusal" in failure) {
    return failure.refusal;
  }
  return `${operation} ${failure.joinedPath}: ${errnoTexts[failure.errno] ?? failure.errno}`;
}

/** The path of an open file or directory, for calls that take no descriptor. It cannot be swapped for another. */
export function descriptorPath(handle: FileHandle): string {
  return `${descriptorDirectory}/${handle.fd}`;
}

/** The way to open relative to a directory without `openat`, which Node does not offer. Linux only. */
const descriptorDirectory = "/proc/self/fd";

/** As long as the kernel takes (PATH_MAX), so that no call that works in a shell is refused. */
const pathBytesMax = 4096;

/** Half of what the kernel allows; nobody needs more by intention. */
const linksMax = 20;

/** Room for the longest path (2048 names) after a few links; 4096 opens take less than half a second. */
const stepsMax = 4096;

// NONBLOCK: opening a pipe does not wait for its writer. NOCTTY: a terminal does not become ours.
const openFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;
const directoryFlags = openFlags | constants.O_DIRECTORY;

/** The words of the C library, which are part of the contract of the tools. */
const errnoTexts: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EIO: "input/output error",
  EISDIR: "is a directory",
  ELOOP: "too many levels of symbolic links",
  EMFILE: "too many open files",
  ENAMETOOLONG: "file name too long",
  ENOENT: "no such file or directory",
  ENOTDIR: "not a directory",
  EPERM: "operation not permitted",
};

class Refusal extends Error {}
class Outside extends Error {}
class SystemRefusal extends Error {
  readonly code: string;

  constructor(code: string) {
    super(code);
    this.code = code;
  }
}

function checkText(path: string): void {
  if (path.includes("\0")) {
    throw new Refusal("path contains a NUL byte");
  }
  const bytes = Buffer.byteLength(path);
  if (bytes > pathBytesMax) {
    // The path is left out: it may fill the model's context.
    throw new Refusal(`path is too long (${bytes} bytes, max ${pathBytesMax})`);
  }
}

interface Root extends AsyncDisposable {
  readonly handle: FileHandle;
  /** As configured. May contain links: whoever chose the work directory chose where they lead. */
  readonly path: string;
  readonly realPath: string;
}

async function openRoot(workDir: string): Promise<Root> {
  const handle = await open(workDir, constants.O_RDONLY | constants.O_DIRECTORY).catch((error: unknown) => {
    throw isSystemError(error)
      ? new Refusal(`work directory ${workDir} is not accessible: ${errnoTexts[error.code] ?? error.code}`)
      : error;
  });
  try {
    const realPath = await readlink(descriptorPath(handle));
    return { handle, path: resolve(workDir), realPath, [Symbol.asyncDispose]: () => handle.close() };
  } catch (cause) {
    await handle.close();
    throw new Fault(
      "CONFIG_INVALID",
      `file tools need ${descriptorDirectory}, which this system does not offer: run the service on Linux with /proc mounted`,
      { cause },
    );
  }
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
    for (let steps = 0; steps < stepsMax; steps += 1) {
      const name = this.#rest.shift() ?? ".";
      if (name === "..") {
        await this.#leaveDirectory();
        continue;
      }
      const realPath = join(this.#root.realPath, ...this.#done, name);
      checkSensitive(realPath);
      const last = this.#rest.length === 0;
      const opened = await this.#openOrFollow(name, last && kind === "file" ? openFlags : directoryFlags);
      if (opened === "followed") {
        continue;
      }
      if (last) {
        return await checkOpened(opened, kind, joinedPath, realPath);
      }
      await this.#enter(opened);
      this.#done.push(name);
    }
    throw new SystemRefusal("ELOOP");
  }

  async #openOrFollow(name: string, flags: number): Promise<FileHandle | "followed"> {
    try {
      return await openAt(this.#directory, name, flags);
    } catch (error) {
      const target = mayBeLink(error) ? await readLinkAt(this.#directory, name) : undefined;
      if (target === undefined) {
        throw this.#rest.length > 0 ? nothingBelow(error) : error;
      }
      await this.#follow(target);
      return "followed";
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
      throw new Outside();
    }
    await this.#restart([...names, ...this.#rest]);
  }

  // Not by opening `..`: the directory may have been moved, and its parent may be anything by now.
  async #leaveDirectory(): Promise<void> {
    if (this.#done.length === 0) {
      throw new Outside();
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
  return await open(`${descriptorPath(directory)}/${name}`, flags);
}

/** The target of a link, or undefined where there is no link (any more). */
async function readLinkAt(directory: FileHandle, name: string): Promise<string | undefined> {
  try {
    return await readlink(`${descriptorPath(directory)}/${name}`);
  } catch (error) {
    if (isSystemError(error) && error.code === "EINVAL") {
      return undefined;
    }
    throw error;
  }
}

function checkSensitive(realPath: string): void {
  const part = findSensitivePart(realPath);
  if (part !== undefined) {
    throw new Refusal(`access to sensitive path "${part}" is blocked`);
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
    if (kind === "file") {
      checkFile(stat, joinedPath);
    }
    return new OpenedPath(handle, stat, joinedPath, realPath);
  } catch (error) {
    await handle.close();
    throw error;
  }
}

function checkFile(stat: Stats, joinedPath: string): void {
  if (stat.isDirectory()) {
    throw new SystemRefusal("EISDIR");
  }
  if (!stat.isFile()) {
    throw new Refusal(notRegular(joinedPath));
  }
  if (stat.nlink > 1) {
    throw new Refusal(`${joinedPath} has ${stat.nlink} hard links: only files with a single name are opened`);
  }
}

function toFailure(error: unknown, joinedPath: string): PathFailure {
  if (error instanceof Refusal) {
    return { refusal: error.message };
  }
  if (error instanceof Outside) {
    return { refusal: `path "${joinedPath}" is outside work directory` };
  }
  if (!isSystemError(error)) {
    throw error;
  }
  // What opening a socket says, or a device without a driver.
  if (error.code === "ENXIO" || error.code === "ENODEV") {
    return { refusal: notRegular(joinedPath) };
  }
  return { errno: error.code, joinedPath };
}

function notRegular(joinedPath: string): string {
  return `${joinedPath} is not a regular file`;
}

// Below a file there is nothing: the model reads the same as for any other path that does not exist.
function nothingBelow(error: unknown): unknown {
  return isSystemError(error) && error.code === "ENOTDIR" ? new SystemRefusal("ENOENT") : error;
}

// ELOOP for a link where anything may stand, ENOTDIR for one where a directory has to.
function mayBeLink(error: unknown): boolean {
  return isSystemError(error) && (error.code === "ELOOP" || error.code === "ENOTDIR");
}

function isSystemError(error: unknown): error is Error & { readonly code: string } {
  return error instanceof SystemRefusal || (error instanceof Error && "syscall" in error && "code" in error);
}
