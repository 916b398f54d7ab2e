// FileService: the files in the work directories of sessions, for the client whose sessions they are. Reads by the rules of the
// file tools.

import type { Stats } from "node:fs";
import { basename, join, relative } from "node:path";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import mime from "mime";
import { File_Type, type FileSchema } from "#gen/runnel/v1/file_pb.js";
import type { FileService, ReadFileResponseSchema } from "#gen/runnel/v1/file_service_pb.js";
import { readNames, statEntry, textOfName, tooMany } from "../agent/tools/directory-entries.ts";
import { describeFailure, type PathFailure } from "../agent/tools/path-failure.ts";
import { OpenedPath, openInside, type PathKind } from "../agent/tools/walk.ts";
import type { Workspace } from "../engine/sessions/workspace.ts";
import { requireClient } from "../platform/auth/caller.ts";
import { Fault, invalidField } from "../platform/base/fault.ts";
import { restCallNotes } from "../platform/base/rest-call.ts";
import type { ServiceDeps } from "./deps.ts";
import { pageSize } from "./page.ts";
import { requireSession } from "./session-service.ts";

/** An agent makes files of any size without writing them, because a file may have holes. More than this is no work of an agent. */
const fileBytesMax = 1_073_741_824;

/** The size of a piece, so small that a slow reader holds little memory. */
const pieceBytes = 65_536;

/** Returns the handlers of FileService. */
export function createFileService(deps: ServiceDeps): ServiceImpl<typeof FileService> {
  return {
    listFiles: async (request, context) => {
      const { path, sessionId } = request;
      const { session, workspace } = await openWorkspace(deps, context, sessionId);
      const scope = ["files", session.client, session.id, path];
      const after = deps.cursors.decode(scope, request.pageToken);
      await using directory = await openPath(workspace, path, "directory");
      const page = { after, limit: pageSize(request.pageSize), signal: context.signal };
      const { files, last } = await readPage(workspace, directory, page);
      return { files, nextPageToken: last === undefined ? "" : deps.cursors.encode(scope, last) };
    },
    readFile: async function* ({ sessionId, path }, context) {
      const { workspace } = await openWorkspace(deps, context, sessionId);
      await using file = await openPath(workspace, path, "file");
      const notes = restCallNotes(context.values);
      if (notes !== undefined) {
        notes.fileName = basename(path);
      }
      yield* readPieces(file, path, context.signal);
    },
  };
}

async function openWorkspace({ db, workDirs }: ServiceDeps, { values }: HandlerContext, sessionId: string) {
  const session = await requireSession(db, requireClient(values).client, sessionId);
  const workspace = await workDirs.find(session, session.work_dir ?? undefined);
  if (workspace === undefined) {
    throw new Fault(
      "WORK_DIR_UNAVAILABLE",
      "this replica has no work directory of the session: no tool has worked in it, or another replica has it on its disk",
    );
  }
  return { session, workspace };
}

async function openPath(workspace: Workspace, path: string, kind: PathKind): Promise<OpenedPath> {
  const opened = await openInside(workspace, path, kind);
  if (opened instanceof OpenedPath) {
    return opened;
  }
  throw faultOf(opened, path);
}

/** Words the failure with the path of the request, because the whole path may contain directories of the host. */
function faultOf(failure: PathFailure, path: string): Fault {
  const shown = failure.kind === "hidden" ? { ...failure, place: path } : failure;
  const words = describeFailure({ ...shown, joinedPath: path }, "open");
  switch (failure.kind) {
    case "outside":
    case "text":
      return invalidField("path", words);
    case "workspace":
      return new Fault("WORK_DIR_UNAVAILABLE", words);
    case "system":
      return new Fault(failure.errno === "ENOENT" ? "FILE_NOT_FOUND" : "FILE_REFUSED", words);
    default:
      return new Fault("FILE_REFUSED", words);
  }
}

interface PageRequest {
  /** The last name of the page before. */
  readonly after: string | undefined;
  readonly limit: number;
  readonly signal: AbortSignal;
}

/** Returns the next entries of a directory. `last` is the last name when there are more. */
async function readPage(
  workspace: Workspace,
  directory: OpenedPath,
  { after, limit, signal }: PageRequest,
): Promise<{ readonly files: MessageInitShape<typeof FileSchema>[]; readonly last?: string }> {
  const parent = relative(workspace.realPath, directory.realPath);
  const names = await readNames(directory, signal);
  if (names === undefined) {
    throw new Fault("FILE_REFUSED", `the directory has ${tooMany}`);
  }
  const rest = after === undefined ? names : names.filter((name) => name > after);
  const page = rest.slice(0, limit);
  const files = await Promise.all(
    page.map(async (name) => {
      const stat = await statEntry(directory, name);
      return stat === undefined ? [] : [fileToProto(join(parent, textOfName(name)), stat)];
    }),
  );
  const last = page.at(-1);
  return { files: files.flat(), ...(last !== undefined && rest.length > page.length && { last }) };
}

function fileToProto(path: string, stat: Stats): MessageInitShape<typeof FileSchema> {
  const file = { path, type: typeOf(stat), sizeBytes: BigInt(stat.size) };
  return isTimestamp(stat.mtime) ? { ...file, updateTime: timestampFromDate(stat.mtime) } : file;
}

/** Whether the time has a form in the contract. An agent gives its files any time that the file system keeps. */
function isTimestamp(time: Date): boolean {
  const year = time.getUTCFullYear();
  return year >= 1 && year <= 9_999;
}

function typeOf(stat: Stats): File_Type {
  if (stat.isFile()) {
    return File_Type.FILE;
  }
  if (stat.isDirectory()) {
    return File_Type.DIRECTORY;
  }
  return stat.isSymbolicLink() ? File_Type.LINK : File_Type.OTHER;
}

/** Reads as many bytes as the file has now: one that grows would be read without end. */
async function* readPieces(
  { handle, stat: { size } }: OpenedPath,
  path: string,
  signal: AbortSignal,
): AsyncGenerator<MessageInitShape<typeof ReadFileResponseSchema>> {
  if (size > fileBytesMax) {
    throw new Fault("FILE_REFUSED", `${path} has ${size} bytes, and files of more than ${fileBytesMax} are not read`);
  }
  let position = 0;
  do {
    signal.throwIfAborted();
    const buffer = new Uint8Array(Math.min(pieceBytes, size - position));
    const { bytesRead } = await handle.read(buffer, 0, buffer.byteLength, position);
    if (bytesRead === 0 && position < size) {
      throw new Fault("BUSY", `${path} became shorter while it was read: read it again`);
    }
    const contentType = position === 0 ? (mime.getType(path) ?? "application/octet-stream") : "";
    position += bytesRead;
    yield { piece: { contentType, data: buffer.subarray(0, bytesRead) } };
  } while (position < size);
}
