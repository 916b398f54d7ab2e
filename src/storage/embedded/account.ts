// Postgres refuses to run as root. Started by root, it runs as an account that exists already; nothing is added to the
// system. That account must be able to walk to the data and to the binaries, which is answered here from modes alone.

import { chmodSync, mkdirSync, readFileSync, realpathSync, type Stats, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { hasErrorCode } from "./error-code.ts";

export interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

export function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/** The account for a new cluster. */
export function findUnprivilegedAccount(): Account {
  const accounts = readAccounts();
  for (const name of accountNames) {
    const account = accounts.find((candidate) => candidate.name === name);
    if (account !== undefined) {
      return account;
    }
  }
  return { name: "uid 65534", uid: overflowId, gid: overflowId };
}

/** The account of an existing cluster is the owner of its data: a cluster that a user made stays that user's. */
export function findOwner(dataFolder: string): Account {
  const { uid, gid } = statSync(dataFolder);
  if (uid === 0) {
    return findUnprivilegedAccount();
  }
  return { name: readAccounts().find((account) => account.uid === uid)?.name ?? `uid ${uid}`, uid, gid };
}

/** The first folder on the way to `path` (itself included) that the account may not enter. Missing folders are open: we make them. */
export function findClosedFolder(path: string, account: Account): string | undefined {
  return listAncestors(resolveExisting(path)).find((folder) => {
    const stats = statSync(folder, { throwIfNoEntry: false });
    return stats !== undefined && !isAllowed(stats, account, enterBit);
  });
}

export function canRead(path: string, account: Account): boolean {
  const stats = statSync(path);
  return isAllowed(stats, account, stats.isDirectory() ? readBit | enterBit : readBit);
}

/** The real path of `path`, of which the last parts need not exist yet. */
export function resolveExisting(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if (!hasErrorCode(error, "ENOENT") || dirname(path) === path) {
      throw error;
    }
    return join(resolveExisting(dirname(path)), basename(path));
  }
}

/** Makes a folder and its missing parents with exactly this mode, whatever the umask says. Existing ones stay as they are. */
export function createFolder(path: string, mode: number): void {
  const first = mkdirSync(path, { recursive: true, mode });
  if (first === undefined) {
    return;
  }
  for (const folder of listAncestors(path)) {
    if (folder.length >= first.length) {
      chmodSync(folder, mode);
    }
  }
}

const accountNames = ["postgres", "_postgres", "nobody"];

/** What Linux calls the overflow id: it is nobody, also where no such name is listed. */
const overflowId = 65_534;

const readBit = 0o4;
const enterBit = 0o1;

function readAccounts(): Account[] {
  try {
    const rows = readFileSync("/etc/passwd", "utf8")
      .split("\n")
      .map((line) => line.split(":"));
    return rows.flatMap(([name, , uid, gid]) => {
      const account = { name: name ?? "", uid: Number(uid), gid: Number(gid) };
      return account.uid > 0 && account.gid > 0 ? [account] : [];
    });
  } catch (error) {
    if (hasErrorCode(error, "ENOENT")) {
      return [];
    }
    throw error;
  }
}

function listAncestors(path: string): string[] {
  const parent = dirname(path);
  return parent === path ? [path] : [...listAncestors(parent), path];
}

function isAllowed(stats: Stats, account: Account, bits: number): boolean {
  const shift = stats.uid === account.uid ? 6 : stats.gid === account.gid ? 3 : 0;
  return ((stats.mode >> shift) & bits) === bits;
}
