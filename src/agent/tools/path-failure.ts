// Why a path is not opened: as data, which every surface words for whom it serves, and in the words that agents read. Our
// rules refuse in full sentences; what the system refuses is told in the words of the C library after the operation and the path.

/** What stands in the way. Of these only `place`, `workspace` and `joinedPath` may name places of the host. */
export type Obstacle =
  /** The path leads out of the work directory. */
  | { readonly kind: "outside" }
  /** The system refuses, with a code such as ENOENT. */
  | { readonly kind: "system"; readonly errno: string }
  /** The text is no path at all. */
  | { readonly kind: "text"; readonly words: string }
  | { readonly kind: "sensitive"; readonly part: string }
  /** It belongs to the service. */
  | { readonly kind: "hidden"; readonly place: string }
  | { readonly kind: "processes" }
  | { readonly kind: "not_regular" }
  | { readonly kind: "hard_links"; readonly links: number }
  /** Nothing can be opened in this work directory. */
  | { readonly kind: "workspace"; readonly words: string };

export type PathFailure = Obstacle & { readonly joinedPath: string };

/** Words a failure for an agent: `stat /home/me/a.txt: no such file or directory`. */
export function describeFailure(failure: PathFailure, operation: string): string {
  const { joinedPath } = failure;
  switch (failure.kind) {
    case "outside":
      return leadsOutside(joinedPath);
    case "system":
      return `${operation} ${joinedPath}: ${describeErrno(failure.errno)}`;
    case "sensitive":
      return describeSensitive(failure.part);
    case "hidden":
      return `access to ${failure.place} is blocked: it belongs to the service`;
    case "processes":
      return showsProcessesOf(joinedPath);
    case "not_regular":
      return `${joinedPath} is not a regular file`;
    case "hard_links":
      return `${joinedPath} has ${describeLinks(failure.links)}`;
    case "text":
    case "workspace":
      return failure.words;
    default:
      return failure satisfies never;
  }
}

export function describeErrno(errno: string): string {
  return errnoTexts[errno] ?? errno;
}

export function describeSensitive(part: string): string {
  return `access to sensitive path "${part}" is blocked`;
}

export function describeLinks(links: number): string {
  return `${links} hard links: only files with a single name are opened`;
}

export function leadsOutside(joinedPath: string): string {
  return `path "${joinedPath}" is outside work directory`;
}

export function showsProcessesOf(path: string): string {
  return `access to ${path} is blocked: it shows the system's processes`;
}

/** The words of the C library, which are part of the contract of the tools. */
const errnoTexts: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EDQUOT: "disk quota exceeded",
  EFBIG: "file too large",
  EIO: "input/output error",
  EISDIR: "is a directory",
  ELOOP: "too many levels of symbolic links",
  EMFILE: "too many open files",
  ENAMETOOLONG: "file name too long",
  ENOENT: "no such file or directory",
  ENOSPC: "no space left on device",
  ENOTDIR: "not a directory",
  EPERM: "operation not permitted",
  EROFS: "read-only file system",
  ETXTBSY: "text file busy",
};

/** Thrown on the way to a path. */
export class Refusal extends Error {
  readonly obstacle: Obstacle;

  constructor(obstacle: Obstacle) {
    super(obstacle.kind);
    this.obstacle = obstacle;
  }
}

/** As if the system had refused. */
export class SystemRefusal extends Error {
  readonly code: string;

  constructor(code: string) {
    super(code);
    this.code = code;
  }
}

/** Makes a failure of what was thrown on the way to a path; anything else than a refusal is thrown again. */
export function toFailure(error: unknown, joinedPath: string): PathFailure {
  if (error instanceof Refusal) {
    return { ...error.obstacle, joinedPath };
  }
  if (!isSystemError(error)) {
    throw error;
  }
  // What opening a socket says, or a pipe that nobody reads, or a device without a driver.
  if (error.code === "ENXIO" || error.code === "ENODEV") {
    return { kind: "not_regular", joinedPath };
  }
  return { kind: "system", errno: error.code, joinedPath };
}

export function isSystemError(error: unknown): error is Error & { readonly code: string } {
  return error instanceof SystemRefusal || (error instanceof Error && "syscall" in error && "code" in error);
}
