// The lock held while a cluster is created, started, joined or stopped.

import { type Lock, readHolder, tryLock } from "../../base/process-lock.ts";
import { embeddedFailure } from "./failure.ts";
import { poll } from "./poll.ts";

/** Waits for the lock. Throws when the holder keeps it longer than a slow start may take. */
export async function acquireLock(file: string, signal?: AbortSignal): Promise<Lock> {
  const lock = await poll(() => tryLock(file), { timeoutMs: lockTimeoutMs, signal });
  if (lock !== undefined) {
    return lock;
  }
  throw embeddedFailure(
    `Another process (pid ${readHolder(file)?.pid ?? "unknown"}) has held ${file} for more than ${lockTimeoutMs / 1000} s.`,
  );
}

/** Longer than all that a holder may do: wait 30 s for a server that recovers, run initdb, and wait 60 s for a start. */
const lockTimeoutMs = 120_000;
