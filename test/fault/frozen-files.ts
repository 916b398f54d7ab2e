// Freezes the file system for this process, as a mount does whose server is gone: every thread that Node has for files
// waits for a pipe that nobody writes. A tool that reads a file hangs until it thaws.

import { execFileSync } from "node:child_process";
import { closeSync, constants, mkdtempSync, openSync, rmSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** Node's own default; files wait for a free one of these. */
const fileThreads = Number(process.env.UV_THREADPOOL_SIZE ?? 4);

/** Returns the thaw, which also comes when the test ends. */
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
  // Both ends at once never blocks, and wakes whoever waits for one of them.
  const writers = pipes.map((pipe) => openSync(pipe, constants.O_RDWR));
  await Promise.all(blocked.map(async (opening) => (await opening).close()));
  for (const writer of writers) {
    closeSync(writer);
  }
}
