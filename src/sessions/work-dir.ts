// The directory that a session's tools work in.

import { createHash } from "node:crypto";
import { mkdir, stat } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { invalidField } from "../base/fault.ts";

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

/** Makes the directory of a session that named none. Two sessions never share one, whatever their ids look like. */
export async function makeWorkDir(root: string, session: { id: string; client: string }): Promise<string> {
  const client = createHash("sha256").update(session.client).digest("hex").slice(0, 16);
  const path = join(root, client, session.id);
  await mkdir(path, { recursive: true, mode: 0o700 });
  return path;
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
