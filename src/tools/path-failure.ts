// Why a path is not opened, and in which words the model reads it. Our rules refuse in full sentences; what the system
// refuses is told in the words of the C library after the operation and the path.

/** A refusal of ours (a full sentence), or one of the system (an error code such as ENOENT). */
export type PathFailure = { readonly refusal: string } | { readonly errno: string; readonly joinedPath: string };

/** Words a failure for the model: `stat /home/me/a.txt: no such file or directory`. */
export function describeFailure(failure: PathFailure, operation: string): string {
  if ("refusal" in failure) {
    return failure.refusal;
  }
  return `${operation} ${failure.joinedPath}: ${describeErrno(failure.errno)}`;
}

export function describeErrno(errno: string): string {
  return errnoTexts[errno] ?? errno;
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

export class Refusal extends Error {}

/** The path leads out of the work directory. */
export class Outside extends Error {}

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
    return { refusal: error.message };
  }
  if (error instanceof Outside) {
    return { refusal: leadsOutside(joinedPath) };
  }
  if (!isSystemError(error)) {
    throw error;
  }
  // What opening a socket says, or a pipe that nobody reads, or a device without a driver.
  if (error.code === "ENXIO" || error.code === "ENODEV") {
    return { refusal: notRegular(joinedPath) };
  }
  return { errno: error.code, joinedPath };
}

export function leadsOutside(joinedPath: string): string {
  return `path "${joinedPath}" is outside work directory`;
}

export function notRegular(joinedPath: string): string {
  return `${joinedPath} is not a regular file`;
}

export function isSystemError(error: unknown): error is Error & { readonly code: string } {
  return error instanceof SystemRefusal || (error instanceof Error && "syscall" in error && "code" in error);
}
