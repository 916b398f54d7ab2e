// A lock between the processes of a machine. It becomes free when its holder is gone, however the holder ended.
//
// L1  The lock file appears with its content in one step (a hard link), so a process never reads half a lock.
// L2  Only the living holder changes its file.
// L3  Only the process that holds the lock `<file>.<token of the dead holder>` replaces a dead holder's file. It does so only
//     while the file still carries that token. Of many processes that find a dead holder, one takes over.

import { randomBytes } from "node:crypto";
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { hasErrorCode } from "./error-code.ts";

/** A held lock. Disposing it removes the lock file. */
export interface Lock extends Disposable {
  readonly file: string;
}

/** Tries once to take the lock. Returns undefined when a living process holds it. */
export function tryLock(file: string): Lock | undefined {
  const token = randomBytes(8).toString("hex");
  const draft = `${file}.${token}.new`;
  writeFileSync(draft, JSON.stringify(describeSelf(token)), { mode: 0o600, flag: "wx", flush: true });
  try {
    if (!linkNew(draft, file) && !replaceDead(draft, file)) {
      return undefined;
    }
  } finally {
    rmSync(draft, { force: true });
  }
  return { file, [Symbol.dispose]: () => rmSync(file, { force: true }) };
}

/** The content of a lock file. */
export interface Holder {
  readonly token: string;
  readonly pid: number;
  /** Distinguishes this process from a later one with the same pid; empty where the system does not provide it. */
  readonly birth: string;
}

function describeSelf(token: string): Holder {
  return { token, pid: process.pid, birth: readBirth(process.pid) ?? "" };
}

function linkNew(draft: string, file: string): boolean {
  try {
    linkSync(draft, file);
    return true;
  } catch (error) {
    if (hasErrorCode(error, "EEXIST")) {
      return false;
    }
    throw error;
  }
}

function replaceDead(draft: string, file: string): boolean {
  const dead = readHolder(file);
  if (dead === undefined || isAlive(dead)) {
    return false;
  }
  using takeover = tryLock(`${file}.${dead.token}`);
  if (takeover === undefined || readHolder(file)?.token !== dead.token) {
    return false;
  }
  renameSync(draft, file);
  return true;
}

/** Returns undefined when the lock is free. Throws when the file is not a lock. */
export function readHolder(file: string): Holder | undefined {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Holder;
  } catch (error) {
    if (hasErrorCode(error, "ENOENT")) {
      return undefined;
    }
    throw new Error(`${file} is not readable as a lock: remove it when no Runnel process uses this directory`, {
      cause: error,
    });
  }
}

function isAlive(holder: Holder): boolean {
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    return !hasErrorCode(error, "ESRCH");
  }
  return holder.birth === "" || readBirth(holder.pid) === holder.birth;
}

/** Returns boot id and start time of a process on Linux. Returns undefined elsewhere, and for an ended process or a zombie. */
function readBirth(pid: number): string | undefined {
  if (process.platform !== "linux") {
    return undefined;
  }
  try {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name in parentheses may contain blanks and parentheses. After the last one come the state and, 19 fields later, the
    // start.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" || fields[0] === "X" ? undefined : `${boot}:${fields[19] ?? ""}`;
  } catch (error) {
    if (hasErrorCode(error, "ENOENT", "ESRCH")) {
      return undefined;
    }
    throw error;
  }
}
