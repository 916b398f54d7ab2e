// Reads the workspace for an outbox: its files and the requested contents. It uses the path checks that confine tools, and its
// reads are bounded, because commands may have filled the workspace with anything.

import { isSystemError } from "../../../agent/tools/path-failure.ts";
import type { FileListing } from "../../../agent/tools/search/request.ts";
import { search } from "../../../agent/tools/search/threads.ts";
import { OpenedPath, openInside } from "../../../agent/tools/walk.ts";
import type { Workspace } from "../../../engine/sessions/workspace.ts";
import { type Contents, readContents } from "./contents.ts";
import { printRequestedFile, type RequestedFile } from "./requested-file.ts";

/** The maximum number of listed files. */
export const filesMax = 2_000;
/** The maximum bytes of all listed paths, 256 KiB: three times the size of common projects. */
export const pathBytesMax = 262_144;
/** The maximum bytes of all requested contents in an outbox, with the lines around them: 2 MiB. */
export const requestedBytesMax = 2_097_152;

/** Lists all files below the work directory, by their paths, in the order of code points. */
export async function listWorkspace(workspace: Workspace, signal: AbortSignal): Promise<FileListing> {
  const opened = await openInside(workspace, "", "directory");
  if (!(opened instanceof OpenedPath)) {
    return { files: [], moreFiles: 0, leftOut: "the workspace cannot be read" };
  }
  await using directory = opened;
  const { handle, joinedPath, realPath } = directory;
  const root = { fd: handle.fd, isDirectory: true, joinedPath, realPath, hidden: workspace.hidden };
  return await search({ kind: "listing", root, filesMax, pathBytesMax }, workspace.client, signal);
}

/**
 * Reads files in the order of the paths, each as often as it is named. A file is left out when it does not fit together with
 * one line about each of the following files.
 */
export async function readRequested(
  workspace: Workspace,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<RequestedFile[]> {
  const files: RequestedFile[] = [];
  let bytesLeft = paths.reduce((bytes, path) => bytes - shownBytes({ path, kind: "left-out" }), requestedBytesMax);
  for (const path of paths) {
    const leftOut: RequestedFile = { path, kind: "left-out" };
    const room = bytesLeft + shownBytes(leftOut);
    const read: RequestedFile = { path, ...(await readFileInside(workspace, path, room, signal)) };
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
  workspace: Workspace,
  path: string,
  bytesLeft: number,
  signal: AbortSignal,
): Promise<Contents | { readonly kind: "missing" }> {
  signal.throwIfAborted();
  const opened = await openInside(workspace, path, "file");
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
