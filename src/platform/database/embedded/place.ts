// Where the cluster lives and which account runs it. Normally that is the directory that was asked for; as root, when
// the account cannot reach it, a folder below the system's. A cluster that exists is always found again, in either place.

import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { findClosedFolder, isRoot, resolveExisting } from "../../base/owner.ts";
import { type Account, findOwner, findUnprivilegedAccount } from "./account.ts";
import { embeddedFailure } from "./failure.ts";

export interface Place {
  /** Holds everything of one cluster: data, log, password, lock. */
  readonly home: string;
  /** Who runs Postgres; undefined = this process's own user. */
  readonly account: Account | undefined;
  /** True when the home is not the directory that was asked for. */
  readonly relocated: boolean;
}

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

export function dataFolderOf(home: string): string {
  return join(home, "postgres");
}

export function lockFileOf(home: string): string {
  return join(home, "lock");
}

export function hasCluster(home: string): boolean {
  return existsSync(join(dataFolderOf(home), "PG_VERSION"));
}

/** Data that is here is not left behind for a new, empty cluster elsewhere: when it became unreachable, that is an error. */
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

/** 64 bits of the path's hash: enough to keep the directories of one machine apart, short enough for a socket path. */
function hashPath(path: string): string {
  return createHash("sha256").update(path).digest("hex").slice(0, 16);
}
