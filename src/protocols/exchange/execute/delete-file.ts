// DELETE_FILE: deletes a file or a symbolic link. A link must not lead outside the workspace; the link is deleted and not its
// target.

import type { Stats } from "node:fs";
import { lstat, open, readlink, unlink } from "node:fs/promises";
import { resolve } from "node:path";
import { pathIn, readFlags } from "../../../agent/tools/descriptors.ts";
import { inTurn } from "../../../agent/tools/in-turn.ts";
import { type PathFailure, Refusal } from "../../../agent/tools/path-failure.ts";
import type { ToolContext } from "../../../agent/tools/tool.ts";
import { checkFile, FilePlace, OpenedPath, openInside, openName } from "../../../agent/tools/walk.ts";
import type { CommandOf, CommandResult, Trace } from "../command.ts";
import { digestFile, digestOf } from "./digest.ts";
import { isGone, isNotFound, notFound, traceFile, workOnFile } from "./file-command.ts";
import { describeRefusal, fail, shorten, succeed } from "./result.ts";

type DeleteFile = CommandOf<"DELETE_FILE">;

/** Deletes a file. `again` is the trace of an earlier attempt: a file that is gone then counts as deleted. */
export async function deleteFile(command: DeleteFile, context: ToolContext, again?: Trace): Promise<CommandResult> {
  const word = (failure: PathFailure): CommandResult => {
    if (isGone(failure) && again?.before !== undefined) {
      return deleted(command);
    }
    return isNotFound(failure) ? notFound(command, failure) : refuseFor(command, describeRefusal(failure));
  };
  return await workOnFile(command, context, word, () =>
    inTurn(resolve(context.workDir, command.path), () => deleteNow(command, context, again)),
  );
}

/** Reads the digest of the file before it is deleted. */
export async function traceDelete(command: DeleteFile, context: ToolContext): Promise<Trace> {
  return await traceFile(command, context, async () => {
    await using entry = await findEntry(command, context);
    return { before: await entry.digest() };
  });
}

async function deleteNow(command: DeleteFile, context: ToolContext, again?: Trace): Promise<CommandResult> {
  await using entry = await findEntry(command, context);
  if (again !== undefined && (await entry.digest()) !== again.before) {
    return refuseFor(command, "an earlier attempt was interrupted, and the file has changed since");
  }
  context.signal.throwIfAborted();
  await unlink(entry.path);
  return deleted(command);
}

interface Entry extends AsyncDisposable {
  /** The path of the name in its open directory. */
  readonly path: string;
  readonly digest: () => Promise<string>;
}

/**
 * Finds the file to delete.
 * @throws Refusal for a file that may not be deleted.
 */
async function findEntry({ path }: DeleteFile, context: ToolContext): Promise<Entry> {
  const found = await openName(context, path);
  if (!(found instanceof FilePlace)) {
    throw new Refusal(found);
  }
  try {
    const entry = pathIn(found.directory.fd, found.name);
    const stat = await lstat(entry);
    await (stat.isSymbolicLink() ? checkTarget(path, context) : checkFile(stat));
    const digest = () => digestEntry(entry, stat, context.signal);
    return { path: entry, digest, [Symbol.asyncDispose]: () => found[Symbol.asyncDispose]() };
  } catch (error) {
    await found[Symbol.asyncDispose]();
    throw error;
  }
}

/** Failures that forbid the deletion of a link. A link that leads nowhere, or to a directory, may be deleted. */
const forbidden: readonly PathFailure["kind"][] = ["outside", "sensitive", "hidden", "processes", "workspace"];

async function checkTarget(path: string, context: ToolContext): Promise<void> {
  const target = await openInside(context, path, "either");
  if (target instanceof OpenedPath) {
    await target[Symbol.asyncDispose]();
  } else if (forbidden.includes(target.kind)) {
    throw new Refusal(target);
  }
}

async function digestEntry(entry: string, stat: Stats, signal: AbortSignal): Promise<string> {
  if (stat.isSymbolicLink()) {
    return digestOf(await readlink(entry));
  }
  await using handle = await open(entry, readFlags);
  return await digestFile(handle, signal);
}

function deleted({ type, path }: DeleteFile): CommandResult {
  return succeed(type, `Deleted '${shorten(path)}'`);
}

function refuseFor({ type, path }: DeleteFile, reason: string): CommandResult {
  return fail(type, `Failed to delete '${shorten(path)}': ${reason}`);
}
