// The account of Postgres, which refuses to run as root. Started by root, it runs as an existing account; the system is not
// changed. That account must be able to enter the folders of the data and of the binaries.

import { chmodSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { hasErrorCode } from "../../base/error-code.ts";
import { listAncestors, type Owner } from "../../base/owner.ts";

/** A user of the system. */
export interface Account extends Owner {
  readonly name: string;
}

/** Returns the account for a new cluster. */
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

/** Returns the account of an existing cluster, the owner of its data: a cluster that a user created keeps that user. */
export function findOwner(dataFolder: string): Account {
  const { uid, gid } = statSync(dataFolder);
  if (uid === 0) {
    return findUnprivilegedAccount();
  }
  return { name: readAccounts().find((account) => account.uid === uid)?.name ?? `uid ${uid}`, uid, gid };
}

/**
 * Creates a folder and its missing parents with exactly this mode, regardless of the umask. Existing folders stay unchanged.
 */
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

/** The overflow id of Linux: an unprivileged account, even where no name is listed for it. */
const overflowId = 65_534;

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
