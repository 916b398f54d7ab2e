// Reads from the settings where tools may work, and which files of the service on the same disk are reserved.

import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { findAroundTrees, WorkDirs } from "../engine/sessions/work-dirs.ts";
import { Fault } from "../platform/base/fault.ts";
import { resolveExisting } from "../platform/base/owner.ts";
import { packageRoot } from "../platform/base/package-root.ts";
import { type Config, isAuthConfigured } from "../platform/config/keys.ts";
import type { Db } from "../platform/database/database.ts";

/**
 * Opens the work directories. `secretFiles` are the files that settings with secrets came from, `db` has the claims of clients.
 * @throws Fault CONFIG_INVALID when every client could name the directories of the others.
 */
export function openWorkDirs(config: Config, secretFiles: readonly string[], db: Db): WorkDirs {
  const key = config.tlsKeyFile === "" ? [] : [config.tlsKeyFile];
  const permitted = listedWorkDirs(config);
  const around = findAroundTrees(permitted);
  if (around !== undefined) {
    throw new Fault("CONFIG_INVALID", `sessions.work_dirs: ${around} ${holdsTrees}`);
  }
  const database = config.databaseUrl === "" ? [config.databaseDir] : [];
  return new WorkDirs({
    root: resolveLinks(workRootOf(config)),
    reserved: [programDirectory, ...database, ...key, ...secretFiles].map(resolveLinks),
    permitted,
    // Any caller may claim to be any client while none proves it.
    claims: isAuthConfigured(config) ? db : undefined,
  });
}

/** Why a listed directory is refused, and what to do. */
export const holdsTrees =
  "holds the directories of an entry with {client}, so every client could name those of the others: list directories beside it";

/** Returns the directories that sessions may name, without links. */
export function listedWorkDirs({ sessionsWorkDirs }: Config): readonly string[] {
  return sessionsWorkDirs.map(resolveLinks);
}

/** Returns the directory that holds the work directories of sessions that name none. */
export function workRootOf({ sessionsWorkRoot, databaseDir }: Config): string {
  return resolve(sessionsWorkRoot || join(databaseDir, "work"));
}

/** The source of this program, its packages, and the files beside them: code written there would run in the service. */
const programDirectory = fileURLToPath(packageRoot);

/**
 * Returns a path without links. The last parts of the path may not exist yet: the first run makes the root. Links before them
 * are resolved all the same. Otherwise a directory made later would have a name that does not match the reserved one.
 */
function resolveLinks(path: string): string {
  const absolute = resolve(path);
  try {
    return resolveExisting(absolute);
  } catch {
    // The service may not read the path, so its tools cannot work there either.
    return absolute;
  }
}
