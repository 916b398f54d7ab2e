// The directory that a session's tools work in.

import { createHash } from "node:crypto";
import { mkdir, realpath, stat } from "node:fs/promises";
import { isAbsolute, join, resolve } from "node:path";
import { invalidField } from "../base/fault.ts";
import type { Config } from "../config/keys.ts";
import { removeTree } from "./remove-tree.ts";

/** Refuses a directory that the tools could not use, in the words of the Agent Runner document. */
export async function checkWorkDir(path: string): Promise<void> {
  if (!isAbsolute(path) || path.includes("\0")) {
    throw invalidField("work_dir", "must be an absolute path");
  }
  let isDirectory: boolean;
  try {
    isDirectory = (await stat(path)).isDirectory();
  } catch (error) {
    throw invalidField("work_dir", `not accessible: stat ${path}: ${describe(error)}`);
  }
  if (!isDirectory) {
    throw invalidField("work_dir", "not a directory");
  }
}

/** Below which sessions that name no directory have theirs. */
export function workRootOf({ sessionsWorkRoot, databaseDir }: Config): string {
  return resolve(sessionsWorkRoot || join(databaseDir, "work"));
}

/** Makes the directory of a session that named none. */
export async function makeWorkDir(root: string, session: OwnedSession): Promise<string> {
  const path = workDirOf(root, session);
  await mkdir(path, { recursive: true, mode: 0o700 });
  // Bash works in no directory that is reached by a link, as the operator's may be.
  return await realpath(path);
}

/** Removes that directory with all that is in it; nothing happens when there is none. */
export async function removeWorkDir(root: string, session: OwnedSession): Promise<void> {
  await removeTree(workDirOf(root, session));
}

interface OwnedSession {
  readonly id: string;
  readonly client: string;
}

/** Two sessions never share one, whatever their ids look like. */
function workDirOf(root: string, session: OwnedSession): string {
  const client = createHash("sha256").update(session.client).digest("hex").slice(0, 16);
  return join(root, client, session.id);
}

function describe(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "ENOENT") {
    return "no such file or directory";
  }
  if (code === "EACCES") {
    return "permission denied";
  }
  return String(code ?? "unknown error");
}
