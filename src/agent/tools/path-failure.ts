// Describes why a path cannot be opened: as data, which each surface words for its own readers, and in words for agents. Our
// own rules refuse in full sentences. Errors of the system use the words of the C library, after the operation and the path.

/** The reason. Only `place`, `workspace` and `joinedPath` may contain paths of the host. */
export type Obstacle =
  /** The path leads out of the work directory. */
  | { readonly kind: "outside" }
  /** The system refuses, with a code such as ENOENT. */
  | { readonly kind: "system"; readonly errno: string }
  /** The text is not a valid path. */
  | { readonly kind: "text"; readonly words: string }
  | { readonly kind: "sensitive"; readonly part: string }
  /** The path belongs to the service. */
  | { readonly kind: "hidden"; readonly place: string }
  | { readonly kind: "processes" }
  | { readonly kind: "not_regular" }
  | { readonly kind: "hard_links"; readonly links: number }
  /** The work directory itself cannot be used. */
  | { readonly kind: "workspace"; readonly words: string };

/** The reason and the path as the agent gave it, joined to the work directory. */
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

/** Returns the C library's text for an error code, or the code itself when it is unknown. */
export function describeErrno(errno: string): string {
  return errnoTexts[errno] ?? errno;
}

/** Returns the error for a sensitive path. */
export function describeSensitive(part: string): string {
  return `access to sensitive path "${part}" is blocked`;
}

/** Returns the error for a file with several names. */
export function describeLinks(links: number): string {
  return `${links} hard links: only files with a single name are opened`;
}

/** Returns the error for a path outside the work directory. */
export function leadsOutside(joinedPath: string): string {
  return `path "${joinedPath}" is outside work directory`;
}

/** Returns the error for a path in procfs. */
export function showsProcessesOf(path: string): string {
  return `access to ${path} is blocked: it shows the system's processes`;
}

/** The words of the C library, which are part of the tools' contract. */
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

/** Thrown while a path is being opened, when one of our rules refuses it. */
export class Refusal extends Error {
  readonly obstacle: Obstacle;

  constructor(obstacle: Obstacle) {
    super(obstacle.kind);
    this.obstacle = obstacle;
  }
}

/** Thrown in place of an error of the system. */
export class SystemRefusal extends Error {
  readonly code: string;

  constructor(code: string) {
    super(code);
    this.code = code;
  }
}

/** Converts an error from opening a path to a failure. Rethrows every other error. */
export function toFailure(error: unknown, joinedPath: string): PathFailure {
  if (error instanceof Refusal) {
    return { ...error.obstacle, joinedPath };
  }
  if (!isSystemError(error)) {
    throw error;
  }
  // The errors for a socket, a pipe without a reader, or a device without a driver.
  if (error.code === "ENXIO" || error.code === "ENODEV") {
    return { kind: "not_regular", joinedPath };
  }
  return { kind: "system", errno: error.code, joinedPath };
}

/** Returns whether the error came from the system, or is a `SystemRefusal`. */
export function isSystemError(error: unknown): error is Error & { readonly code: string } {
  return error instanceof SystemRefusal || (error instanceof Error && "syscall" in error && "code" in error);
}
