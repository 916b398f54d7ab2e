// What an outbox tells of the workspace: its files, and the contents that were asked for. Read through the walk that confines
// tools, and bounded, because whoever works there may have filled it with anything.

import { isSystemError } from "../../../agent/tools/path-failure.ts";
import type { FileListing } from "../../../agent/tools/search/request.ts";
import { search } from "../../../agent/tools/search/threads.ts";
import { OpenedPath, openInside } from "../../../agent/tools/walk.ts";
import type { WorkPlace } from "../../../engine/sessions/work-place.ts";
import { type Contents, readContents } from "./contents.ts";
import { printRequestedFile, type RequestedFile } from "./requested-file.ts";

/** Most files that are listed. */
export const filesMax = 2_000;
/** Most bytes of their paths together, 256 KiB: three times as long as those of common projects. */
export const pathBytesMax = 262_144;
/** Most bytes that requested contents may take in an outbox together, with the lines around them: 2 MiB. */
export const requestedBytesMax = 2_097_152;

/** All files below the work directory, by their paths, in the order of code points. */
export async function listWorkspace(place: WorkPlace, signal: AbortSignal): Promise<FileListing> {
  const opened = await openInside(place, "", "directory");
  if (!(opened instanceof OpenedPath)) {
    return { files: [], moreFiles: 0, leftOut: "the workspace cannot be read" };
  }
  await using directory = opened;
  const { handle, joinedPath, realPath } = directory;
  const root = { fd: handle.fd, isDirectory: true, joinedPath, realPath, hidden: place.hidden };
  return await search({ kind: "listing", root, filesMax, pathBytesMax }, signal);
}

/**
 * The contents of files, in the order of the paths and as often as they are named, as long as there is room for them and for
 * a line about each of those that follow.
 */
export async function readRequested(
  place: WorkPlace,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<RequestedFile[]> {
  const files: RequestedFile[] = [];
  let bytesLeft = paths.reduce((bytes, path) => bytes - shownBytes({ path, kind: "left-out" }), requestedBytesMax);
  for (const path of paths) {
    const leftOut: RequestedFile = { path, kind: "left-out" };
    const room = bytesLeft + shownBytes(leftOut);
    const read: RequestedFile = { path, ...(await readFileInside(place, path, room, signal)) };
    const file = shownBytes(read) <= room ? read : leftOut;
    bytesLeft = room - shownBytes(file);
    files.push(file);
  }
  return files;
}

function shownBytes(file: RequestedFile): number {
  return Buffer.byteLength(`${printRequestedFile(file)}\n`);
}

async function readFileInside(
  place: WorkPlace,
  path: string,
  bytesLeft: number,
  signal: AbortSignal,
): Promise<Contents | { readonly kind: "missing" }> {
  signal.throwIfAborted();
  const opened = await openInside(place, path, "file");
  if (!(opened instanceof OpenedPath)) {
    return { kind: "missing" };
  }
  await using file = opened;
  try {
    return await readContents(file.handle, bytesLeft, signal);
  } catch (error) {
    // A disk that fails denies access as well.
    if (isSystemError(error)) {
      return { kind: "missing" };
    }
    throw error;
  }
}
