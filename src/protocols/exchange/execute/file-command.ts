// What commands about a file have in common: which paths are refused unseen, and that a refusal is a result.

import { isAbsolute, resolve } from "node:path";
import { type PathFailure, Refusal, SystemRefusal, toFailure } from "../../../agent/tools/path-failure.ts";
import type { ToolContext } from "../../../agent/tools/tool.ts";
import { isWithin } from "../../../engine/sessions/within.ts";
import type { CommandOf, CommandResult, Trace } from "../command.ts";
import { describeRefusal, fail, rejectOutside, shorten } from "./result.ts";

export type FileCommand = CommandOf<"CREATE_FILE" | "EDIT_FILE" | "DELETE_FILE" | "READ_FILE">;

export type Refuse = (failure: PathFailure) => CommandResult;

/** `word` is how the command words a refusal, but for that of paths that lead outside: there is one way to word it. */
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

/** What is kept of a file before a command begins: nothing where the command will be refused. */
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

/** Directories are no files, and so not found. */
export function isNotFound(failure: PathFailure): boolean {
  return failure.kind === "system" && ["ENOENT", "EISDIR"].includes(failure.errno);
}

export function isGone(failure: PathFailure): boolean {
  return failure.kind === "system" && failure.errno === "ENOENT";
}

/** With the reason as output, where it is another one. */
export function notFound({ type, path }: FileCommand, failure: PathFailure): CommandResult {
  return fail(type, `File '${shorten(path)}' not found`, isGone(failure) ? "" : describeRefusal(failure));
}

/** As far as the text tells. What is really there, the walk finds out. */
function checkName(workDir: string, path: string): void {
  // Also one that lies inside: whoever writes an inbox knows nothing of the host.
  if (isAbsolute(path) || !isWithin(resolve(workDir, path), resolve(workDir))) {
    throw new Refusal({ kind: "outside" });
  }
  if (namesDirectory(path)) {
    throw new SystemRefusal("EISDIR");
  }
}

/** By its last name: none (the workspace itself too), `.` or `..`. Resolved, `src/` would name a file `src`. */
function namesDirectory(path: string): boolean {
  return /(?:^|\/)\.{0,2}$/.test(path);
}
