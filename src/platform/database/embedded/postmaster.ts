// Reads the file postmaster.pid of a data folder and checks whether it is still true. Its pid may since belong to another
// process, which Postgres itself takes for a running server.

import { readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { hasErrorCode } from "../../base/error-code.ts";
import { embeddedFailure } from "./failure.ts";
import { poll } from "./poll.ts";

/** The content of a postmaster.pid. */
export interface Postmaster {
  readonly pid: number;
  /** Host and port of the server; undefined until the server has written them. */
  readonly address: Address | undefined;
  readonly isReady: boolean;
}

/** Host and port of a server. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/** The host of a server without a socket. */
export const loopback = "127.0.0.1";

/** Reads the file. Returns undefined when it is missing or holds no pid. */
export function readPostmaster(dataFolder: string): Postmaster | undefined {
  let text: string;
  try {
    text = readFileSync(join(dataFolder, pidFile), "utf8");
  } catch (error) {
    if (hasErrorCode(error, "ENOENT")) {
      return undefined;
    }
    throw error;
  }
  // Lines: pid, data folder, start time, port, socket folder, listen address, shared memory key, state.
  const lines = text.split("\n");
  const [pid, port] = [Number(lines[0]), Number(lines[3])];
  if (!(pid > 0)) {
    return undefined;
  }
  const address = port > 0 && lines[4] !== undefined ? { host: lines[4] || loopback, port } : undefined;
  return { pid, address, isReady: lines[7]?.trim() === "ready" };
}

/** Returns true when `pid` is a process that works in this data folder. Outside Linux, any living process counts. */
export function isServing(pid: number, dataFolder: string): boolean {
  return process.platform === "linux" ? (worksIn(pid, dataFolder) ?? true) : isAlive(pid);
}

/**
 * Prepares the start after a server died. Postgres removes the file itself, unless its pid now belongs to another process: then
 * it would refuse to start as long as that process lives. Nothing is removed while any process works in the folder: it may be
 * one of the dead server's last children.
 */
export async function clearStalePidFile(dataFolder: string, pid: number, signal?: AbortSignal): Promise<void> {
  const look = (): true | undefined => (hasProcessIn(dataFolder) ? undefined : true);
  const isEmpty = await poll(look, { timeoutMs: childrenTimeoutMs, signal });
  if (isEmpty === undefined) {
    throw embeddedFailure(
      `The Postgres of ${dataFolder} (pid ${pid}) died, but processes of it still work in that folder.`,
    );
  }
  if (isAlive(pid)) {
    rmSync(join(dataFolder, pidFile), { force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !hasErrorCode(error, "ESRCH");
  }
}

const pidFile = "postmaster.pid";

/** The children of a dead postmaster notice within milliseconds and finish their statement. */
const childrenTimeoutMs = 10_000;

function hasProcessIn(dataFolder: string): boolean {
  if (process.platform !== "linux") {
    return false;
  }
  return readdirSync("/proc").some((name) => /^\d+$/.test(name) && worksIn(Number(name), dataFolder) === true);
}

/** Compares inodes, since paths may differ. Returns undefined for a process of another user that we may not inspect. */
function worksIn(pid: number, dataFolder: string): boolean | undefined {
  try {
    const [theirs, ours] = [statSync(`/proc/${pid}/cwd`), statSync(dataFolder)];
    return theirs.ino === ours.ino && theirs.dev === ours.dev;
  } catch (error) {
    if (hasErrorCode(error, "EACCES", "EPERM")) {
      return undefined;
    }
    if (hasErrorCode(error, "ENOENT", "ESRCH")) {
      return false;
    }
    throw error;
  }
}
