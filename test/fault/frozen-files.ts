// Freezes the file system for this process, as a mount without its server does: every file thread of Node waits for a pipe
// without a writer. A tool that reads a file hangs until the thaw.

import { execFileSync } from "node:child_process";
import { closeSync, constants, mkdtempSync, openSync, rmSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** Node's own default; each file operation needs a free thread. */
const fileThreads = Number(process.env.UV_THREADPOOL_SIZE ?? 4);

/** Returns the thaw, which also happens at the end of the test. */
export function freezeFiles(): () => Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "runnel-frozen-"));
  const pipes = Array.from({ length: fileThreads }, (_, index) => join(directory, String(index)));
  execFileSync("mkfifo", pipes);
  const blocked = pipes.map((pipe) => open(pipe, "r"));
  let thawing: Promise<void> | undefined;
  const thaw = (): Promise<void> => {
    thawing ??= unblock(pipes, blocked).then(() => rmSync(directory, { recursive: true }));
    return thawing;
  };
  onTestFinished(thaw);
  return thaw;
}

async function unblock(pipes: readonly string[], blocked: readonly Promise<FileHandle>[]): Promise<void> {
  // Opening both ends at once never blocks, and wakes every reader that waits for the other end.
  const writers = pipes.map((pipe) => openSync(pipe, constants.O_RDWR));
  await Promise.all(blocked.map(async (opening) => (await opening).close()));
  for (const writer of writers) {
    closeSync(writer);
  }
}
