// Postgres refuses to run as root. Started by root, it runs as an account that exists already; nothing is added to the
// system. That account must be able to walk to the data and to the binaries.

import { chmodSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { hasErrorCode } from "../../base/error-code.ts";
import { listAncestors, type Owner } from "../../base/owner.ts";

export interface Account extends Owner {
  readonly name: string;
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
