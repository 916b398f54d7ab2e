// Opens files relative to an open directory, as `openat` does, which Node lacks. It uses the directory's entry in /proc, which
// names the directory itself even when its path changes. Linux only.

import { constants, type StatsFs } from "node:fs";

/** The directory with an entry for each open descriptor. */
export const descriptorDirectory = "/proc/self/fd";

/** Returns the path of an open file or directory, for calls without a descriptor argument. It always means the same file. */
export function descriptorPath(fd: number): string {
  return `${descriptorDirectory}/${fd}`;
}

/** Returns the path of `name` in an open directory. `name` may be a link, so the caller must refuse to follow it. */
export function pathIn(directoryFd: number, name: string): string {
  return `${descriptorPath(directoryFd)}/${name}`;
}

/** The type of procfs in `statfs`. */
const procMagic = 0x9fa0;

/**
 * Returns whether a file system is procfs. It shows environments and memory of processes, including the service's own, so no
 * tool reads it in any work directory.
 */
export function showsProcesses({ type }: StatsFs): boolean {
  return type === procMagic;
}

// NONBLOCK: opening a pipe does not wait for its other end. NOCTTY: a terminal does not become our controlling terminal.
const carefully = constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;

/** Opens for reading, without following a link. */
export const readFlags: number = constants.O_RDONLY | carefully;
/** Opens a directory, without following a link. */
export const directoryFlags: number = readFlags | constants.O_DIRECTORY;
/** Opens for writing, without following a link. */
export const writeFlags: number = constants.O_WRONLY | carefully;
/** Opens for reading and writing, without following a link. */
export const updateFlags: number = constants.O_RDWR | carefully;
/** Creates a file. EXCL: an existing entry of that name, such as a link, is never opened. */
export const createFlags: number = writeFlags | constants.O_CREAT | constants.O_EXCL;
