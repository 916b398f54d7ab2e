// Looks after a command from outside, for what no limit of the kernel holds in a jail: bytes written over all files, memory
// over all processes, and their number where it runs as root, whom no limit of the kernel is for.

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

export interface Watched {
  /** Undefined until the jail stands. */
  readonly jailPid: () => number | undefined;
  readonly writtenBytesMax: number;
  /** The kernel limits its processes in no way. */
  readonly isUncounted: boolean;
  /** Told once, of the first limit that is passed. */
  readonly onLimit: (passed: PassedLimit) => void;
}

export interface PassedLimit {
  readonly limit: WatchedLimit;
  /** For the model. */
  readonly words: string;
}

export class Watch {
  /** The file system of the work directory is the one that is filled. */
  readonly #workDir: string;
  readonly #freeBytesBefore: number;
  #writtenBytes = 0;

  static async open(workDir: string): Promise<Watch> {
    return new Watch(workDir, await readFreeBytes(workDir));
  }

  private constructor(workDir: string, freeBytesBefore: number) {
    this.#workDir = workDir;
    this.#freeBytesBefore = freeBytesBefore;
  }

  /** Looks until the signal aborts, or a limit is passed. */
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

  /** Whether the command may have taken disk, or given it back. Others do too: it may be true for nothing. */
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
  /** What their processes that are gone have written is in it. */
  readonly writtenBytes: number;
}

/** Undefined when the jail is gone. Its own view of its processes holds no others. */
async function readUse(pid: number): Promise<Use | undefined> {
  try {
    const folder = `/proc/${pid}/root/proc`;
    // Not through the pool of threads, where it would wait while processes multiply.
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

/** Zeros for a process that is gone meanwhile: its parent has its count. */
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
