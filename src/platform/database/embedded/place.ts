// Chooses the folder of the cluster and the account that runs it. Normally that is the requested directory; as root, when the
// account cannot reach it, a folder below the system's. An existing cluster is always found again, in either place.

import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { findClosedFolder, isRoot, resolveExisting } from "../../base/owner.ts";
import { type Account, findOwner, findUnprivilegedAccount } from "./account.ts";
import { embeddedFailure } from "./failure.ts";

/** The folder and the account of a cluster. */
export interface Place {
  /** Holds all files of one cluster: data, log, password, lock. */
  readonly home: string;
  /** The account that runs Postgres; undefined for this process's own user. */
  readonly account: Account | undefined;
  /** True when the home is not the requested directory. */
  readonly relocated: boolean;
}

/** Chooses the place of a cluster. Throws when existing data became unreachable for its account. */
export function choosePlace(directory: string, systemFolder: string): Place {
  const home = resolveExisting(resolve(directory));
  if (!isRoot()) {
    return { home, account: undefined, relocated: false };
  }
  if (hasCluster(home)) {
    return placeExisting(home);
  }
  const account = findUnprivilegedAccount();
  const systemHome = join(systemFolder, hashPath(home));
  if (hasCluster(systemHome)) {
    return { home: systemHome, account: findOwner(dataFolderOf(systemHome)), relocated: true };
  }
  const relocated = findClosedFolder(home, account) !== undefined;
  return { home: relocated ? systemHome : home, account, relocated };
}

/** Returns the data folder of a home. */
export function dataFolderOf(home: string): string {
  return join(home, "postgres");
}

/** Returns the lock file of a home. */
export function lockFileOf(home: string): string {
  return join(home, "lock");
}

/** Returns true when the home holds a complete cluster. */
export function hasCluster(home: string): boolean {
  return existsSync(join(dataFolderOf(home), "PG_VERSION"));
}

/** Uses the existing data and never a new, empty cluster elsewhere. Data that became unreachable is an error. */
function placeExisting(home: string): Place {
  const account = findOwner(dataFolderOf(home));
  const closed = findClosedFolder(home, account);
  if (closed === undefined) {
    return { home, account, relocated: false };
  }
  throw embeddedFailure(
    `The data in ${dataFolderOf(home)} cannot be used: account ${account.name} may not enter ${closed}. ` +
      `Allow it with \`chmod o+x ${closed}\`, or move the directory.`,
  );
}

/** 64 bits of the path's hash: enough to separate the directories of one machine, short enough for a socket path. */
function hashPath(path: string): string {
  return createHash("sha256").update(path).digest("hex").slice(0, 16);
}
