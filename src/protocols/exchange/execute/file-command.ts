// Shared parts of commands about a file: the paths that are refused before any access, and refusals as results.

import { isAbsolute, resolve } from "node:path";
import { type PathFailure, Refusal, SystemRefusal, toFailure } from "../../../agent/tools/path-failure.ts";
import type { ToolContext } from "../../../agent/tools/tool.ts";
import { isWithin } from "../../../engine/sessions/within.ts";
import type { CommandOf, CommandResult, Trace } from "../command.ts";
import { describeRefusal, fail, rejectOutside, shorten } from "./result.ts";

/** A command about a file. */
export type FileCommand = CommandOf<"CREATE_FILE" | "EDIT_FILE" | "DELETE_FILE" | "READ_FILE">;

/** Converts a failure to the result of the command. */
export type Refuse = (failure: PathFailure) => CommandResult;

/**
 * Checks the path and does the work. `word` words the refusals of this command, except for paths outside the workspace, which
 * have one wording for all commands.
 */
export async function workOnFile(
  { type, path }: FileCommand,
  { workDir }: ToolContext,
  word: Refuse,
  work: (refuse: Refuse) => Promise<CommandResult>,
): Promise<CommandResult> {
  const refuse: Refuse = (failure) => (failure.kind === "outside" ? rejectOutside(type, path) : word(failure));
  try {
    checkName(workDir, path);
    return await work(refuse);
  } catch (error) {
    return refuse(toFailure(error, path));
  }
}

/** Reads the trace of a file before a command begins; empty when the command will be refused. */
export async function traceFile(
  { path }: FileCommand,
  { workDir }: ToolContext,
  look: () => Promise<Trace>,
): Promise<Trace> {
  try {
    checkName(workDir, path);
    return await look();
  } catch (error) {
    toFailure(error, path);
    return {};
  }
}

/** Returns true for a missing file and for a directory, which is not a file. */
export function isNotFound(failure: PathFailure): boolean {
  return failure.kind === "system" && ["ENOENT", "EISDIR"].includes(failure.errno);
}

/** Returns true for a missing file. */
export function isGone(failure: PathFailure): boolean {
  return failure.kind === "system" && failure.errno === "ENOENT";
}

/** Makes the result of a file that was not found. The output holds the reason when the file exists. */
export function notFound({ type, path }: FileCommand, failure: PathFailure): CommandResult {
  return fail(type, `File '${shorten(path)}' not found`, isGone(failure) ? "" : describeRefusal(failure));
}

/** Checks the text of a path. The actual files are checked when the path is opened. */
function checkName(workDir: string, path: string): void {
  // Absolute paths are refused even inside the workspace: the author of an inbox knows no paths of the host.
  if (isAbsolute(path) || !isWithin(resolve(workDir, path), resolve(workDir))) {
    throw new Refusal({ kind: "outside" });
  }
  if (namesDirectory(path)) {
    throw new SystemRefusal("EISDIR");
  }
}

/**
 * Returns true when the last name is empty (also for the workspace itself), `.` or `..`. Resolved, `src/` would name a file
 * `src`.
 */
function namesDirectory(path: string): boolean {
  return /(?:^|\/)\.{0,2}$/.test(path);
}
