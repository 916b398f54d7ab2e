// Watches a command from outside, for limits that the kernel does not enforce in a jail: total bytes written and memory of all
// processes. It also limits their number when the command runs as root, which the kernel does not limit.

import { readdirSync } from "node:fs";
import { readFile, statfs } from "node:fs/promises";
import type { Clock } from "../../../platform/base/clock.ts";
import {
  freeBytesMin,
  memoryBytesMax,
  processesMax,
  rootWatchIntervalMs,
  type WatchedLimit,
  watchIntervalMs,
  writtenBytesLeast,
} from "./limits.ts";

/** The command to watch. */
export interface Watched {
  /** Returns undefined until the jail is ready. */
  readonly jailPid: () => number | undefined;
  readonly writtenBytesMax: number;
  /** True when the kernel does not limit the number of its processes. */
  readonly isUncounted: boolean;
  /** Called once, for the first limit that is exceeded. */
  readonly onLimit: (passed: PassedLimit) => void;
}

/** An exceeded limit. */
export interface PassedLimit {
  readonly limit: WatchedLimit;
  /** The limit in words, for the model. */
  readonly words: string;
}

/** Watches one command. */
export class Watchdog {
  /** The work directory, on the file system that a command can fill. */
  readonly #workDir: string;
  readonly #freeBytesBefore: number;
  #writtenBytes = 0;

  static async open(workDir: string): Promise<Watchdog> {
    return new Watchdog(workDir, await readFreeBytes(workDir));
  }

  private constructor(workDir: string, freeBytesBefore: number) {
    this.#workDir = workDir;
    this.#freeBytesBefore = freeBytesBefore;
  }

  /** Checks regularly until the signal aborts or a limit is exceeded. */
  async run(clock: Clock, ended: AbortSignal, watched: Watched): Promise<void> {
    const intervalMs = watched.isUncounted ? rootWatchIntervalMs : watchIntervalMs;
    while (!ended.aborted) {
      await clock.sleep(intervalMs, ended);
      const passed = ended.aborted ? undefined : await this.#findPassed(watched);
      if (passed !== undefined && !ended.aborted) {
        watched.onLimit(passed);
        return;
      }
    }
  }

  /** Returns whether the command may have used or freed disk space. Other processes may cause a false alarm. */
  async sawChange(): Promise<boolean> {
    const change = Math.abs(this.#freeBytesBefore - (await readFreeBytes(this.#workDir)));
    return Math.max(change, this.#writtenBytes) >= writtenBytesLeast;
  }

  async #findPassed({ jailPid, writtenBytesMax }: Watched): Promise<PassedLimit | undefined> {
    const pid = jailPid();
    const use = pid === undefined ? undefined : await readUse(pid);
    this.#writtenBytes = Math.max(this.#writtenBytes, use?.writtenBytes ?? 0);
    return (use && findPassed(use, writtenBytesMax)) ?? (await this.#findFullDisk());
  }

  async #findFullDisk(): Promise<PassedLimit | undefined> {
    const freeBytes = await readFreeBytes(this.#workDir);
    const isTaken = freeBytes < this.#freeBytesBefore - writtenBytesLeast;
    const words = `less than ${inMebibytes(freeBytesMin)} MiB free on disk`;
    return isTaken && freeBytes < freeBytesMin ? { limit: "disk_free", words } : undefined;
  }
}

function findPassed({ processes, memoryBytes, writtenBytes }: Use, writtenBytesMax: number): PassedLimit | undefined {
  if (processes > processesMax) {
    return { limit: "processes", words: `more than ${processesMax} processes` };
  }
  if (memoryBytes > memoryBytesMax) {
    return { limit: "memory", words: `more than ${inMebibytes(memoryBytesMax)} MiB of memory` };
  }
  return writtenBytes > writtenBytesMax
    ? { limit: "disk", words: `more than ${inMebibytes(writtenBytesMax)} MiB written to disk` }
    : undefined;
}

interface Use {
  readonly processes: number;
  readonly memoryBytes: number;
  /** Includes the bytes written by child processes that have ended. */
  readonly writtenBytes: number;
}

/** Returns undefined when the jail is gone. Reads the jail's own /proc, which lists only its processes. */
async function readUse(pid: number): Promise<Use | undefined> {
  try {
    const folder = `/proc/${pid}/root/proc`;
    // Synchronous, because a call in the thread pool would wait while processes multiply.
    const pids = readdirSync(folder).filter((name) => /^\d+$/.test(name));
    const read = pids.length > processesMax ? [] : await Promise.all(pids.map((each) => readProcess(folder, each)));
    return {
      processes: pids.length,
      memoryBytes: sum(read.map(({ memoryBytes }) => memoryBytes)),
      writtenBytes: sum(read.map(({ writtenBytes }) => writtenBytes)),
    };
  } catch {
    return undefined;
  }
}

/** Returns zeros for a process that has just ended; its parent has its counts. */
async function readProcess(folder: string, pid: string): Promise<Omit<Use, "processes">> {
  try {
    const [status, io] = await Promise.all([
      readFile(`${folder}/${pid}/status`, "utf8"),
      readFile(`${folder}/${pid}/io`, "utf8"),
    ]);
    return {
      memoryBytes: 1_024 * Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0),
      writtenBytes: Number(/^write_bytes: (\d+)$/m.exec(io)?.[1] ?? 0),
    };
  } catch {
    return { memoryBytes: 0, writtenBytes: 0 };
  }
}

async function readFreeBytes(path: string): Promise<number> {
  const { bavail, bsize } = await statfs(path);
  return bavail * bsize;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}

function inMebibytes(bytes: number): number {
  return Math.round(bytes / 1_048_576);
}
