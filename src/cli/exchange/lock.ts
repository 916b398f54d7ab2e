// Lets one command at a time work in the folders of exchanges. Of two that watch the same inbox/, one takes each file. A
// command that submits beside them waits for its turn.

import { join } from "node:path";
import { systemClock } from "../../platform/base/clock.ts";
import { type Lock, readHolder, tryLock } from "../../platform/base/process-lock.ts";
import type { Output } from "../output.ts";
import type { Folders } from "./folders.ts";

const lockPollMs = 50;
/** An answer may run commands for minutes; after this time the waiting command prints why it waits. */
const warnAfterMs = 2_000;

/** The folders to lock, and how to wait for them. */
export interface Turns {
  readonly folders: Folders;
  readonly output: Output;
  readonly signal: AbortSignal;
}

/** Does the work while holding the lock. Waits for the lock until the signal aborts, then throws. */
export async function inTurn<T>(turns: Turns, work: () => Promise<T>): Promise<T> {
  using _lock = await untilLocked(turns);
  return await work();
}

async function untilLocked({ folders, output, signal }: Turns): Promise<Lock> {
  const file = join(folders.sessions, ".lock");
  const startedMs = systemClock.monotonicMs();
  let hasWarned = false;
  for (;;) {
    signal.throwIfAborted();
    const lock = tryLock(file);
    if (lock !== undefined) {
      return lock;
    }
    if (!hasWarned && systemClock.monotonicMs() - startedMs > warnAfterMs) {
      hasWarned = true;
      const pid = readHolder(file)?.pid;
      output.note(`(another command works in this folder, process ${pid}: waiting for it)`, { note: "waiting", pid });
    }
    await systemClock.sleep(lockPollMs, signal);
  }
}
