// The processes of a Postgres: the postmaster and its children.

import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Returns the postmaster that the data directory names, or undefined. */
export function readPid(dataDirectory: string): number | undefined {
  try {
    return Number(readFileSync(join(dataDirectory, "postmaster.pid"), "utf8").split("\n", 1)[0]);
  } catch {
    return undefined;
  }
}

export function isAlive(pid: number | undefined): boolean {
  if (pid === undefined) {
    return false;
  }
  try {
    // A server that has ended stays a zombie until its parent has noticed.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

/** Returns nothing for a postmaster that has ended. It comes first, so that it starts no other process during a freeze. */
export function familyOf(pid: number | undefined): number[] {
  if (pid === undefined || !isAlive(pid)) {
    return [];
  }
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8");
  return [pid, ...children.trim().split(" ").filter(Boolean).map(Number)];
}

/** Sends a signal to a postmaster and its children. Backends come and go: one of them may have ended meanwhile. */
export function signalFamily(pid: number | undefined, signal: NodeJS.Signals): void {
  for (const each of familyOf(pid)) {
    try {
      process.kill(each, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") {
        throw error;
      }
    }
  }
}
