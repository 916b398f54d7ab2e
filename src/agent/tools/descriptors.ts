// How files are opened relative to an open directory, which is what `openat` is for and Node does not offer: through the
// directory's entry in /proc. It names the directory itself, whatever becomes of its path. Linux only.

import { constants, type StatsFs } from "node:fs";

export const descriptorDirectory = "/proc/self/fd";

/** The path of an open file or directory, for calls that take no descriptor. It cannot be swapped for another. */
export function descriptorPath(fd: number): string {
  return `${descriptorDirectory}/${fd}`;
}

/** The path of `name` in an open directory. A link of that name is still a link: whoever opens it refuses to follow. */
export function pathIn(directoryFd: number, name: string): string {
  return `${descriptorPath(directoryFd)}/${name}`;
}

/** What Linux calls the type of procfs. */
const procMagic = 0x9fa0;

/**
 * True for what shows the system's processes. Environments and memory are in it, those of the service included, so no tool
 * reads it, whatever work directory a session names.
 */
export function showsProcesses({ type }: StatsFs): boolean {
  return type === procMagic;
}

// NONBLOCK: opening a pipe does not wait for its other end. NOCTTY: a terminal does not become ours.
const carefully = constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;

export const readFlags: number = constants.O_RDONLY | carefully;
export const directoryFlags: number = readFlags | constants.O_DIRECTORY;
export const writeFlags: number = constants.O_WRONLY | carefully;
export const updateFlags: number = constants.O_RDWR | carefully;
/** EXCL: what has the name already, a link for instance, is never opened. */
export const createFlags: number = writeFlags | constants.O_CREAT | constants.O_EXCL;
