// A lock between the processes of a machine, free as soon as its holder is gone, however it ended.
//
// L1  The lock file appears with its content in one step (a hard link), so nobody ever reads half a lock.
// L2  A living holder's file is changed by the holder only.
// L3  The file of a dead holder is replaced only by whoever holds the lock `<file>.<token of the dead holder>`, and only
//     while the file still carries that token: of many who find it dead, one takes it over.

import { randomBytes } from "node:crypto";
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { hasErrorCode } from "./error-code.ts";

export interface Lock extends Disposable {
  readonly file: string;
}

/** One attempt: undefined when a living process holds the lock. */
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

export interface Holder {
  readonly token: string;
  readonly pid: number;
  /** Tells this process from a later one with the same pid; empty where the system does not say. */
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

/** Undefined when nobody has the lock. */
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

/** Boot and start time of a process on Linux; undefined elsewhere, and for a process that is gone or a zombie. */
function readBirth(pid: number): string | undefined {
  if (process.platform !== "linux") {
    return undefined;
  }
  try {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name in parentheses may hold blanks and parentheses; after the last one come the state and, 19 later, the start.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" || fields[0] === "X" ? undefined : `${boot}:${fields[19] ?? ""}`;
  } catch (error) {
    if (hasErrorCode(error, "ENOENT", "ESRCH")) {
      return undefined;
    }
    throw error;
  }
}
